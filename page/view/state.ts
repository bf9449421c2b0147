/** The choices of the reader. The browser remembers the language and the theme. The API key is kept in memory only. */

import type { EntityTags } from '../entity-tags.ts';
import { LANGUAGES, type Language } from '../samples/samples.ts';

/** A value whose changes can be observed. */
export class State<T> {
  #value: T;
  readonly #observers: ((value: T) => void)[] = [];

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    this.#value = value;
    for (const observer of this.#observers) observer(value);
  }

  /** Calls the observer at once, and after each change. */
  observe(observer: (value: T) => void): void {
    this.#observers.push(observer);
    observer(this.#value);
  }
}

/** Creates a state that the browser remembers, unless the reader has disabled storage. */
export function remembered<T extends string>(name: string, values: readonly T[], initial: T): State<T> {
  const item = `animal-store-${name}`;
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(item);
  } catch {
    // The reader has disabled storage for this page.
  }
  const state = new State(values.find((value) => value === stored) ?? initial);
  state.observe((value) => {
    if (value === (stored ?? initial)) return;
    stored = value;
    try {
      localStorage.setItem(item, value);
    } catch {
      // The choice is lost when the page is closed.
    }
  });
  return state;
}

export interface Choices {
  /** The language of all samples. */
  readonly language: State<Language>;
  readonly apiKey: State<string>;
  /** Whether the page shows the API key. The page hides the key until the reader asks for it. */
  readonly isKeyShown: State<boolean>;
  readonly entityTags: State<EntityTags>;
}

export function newChoices(): Choices {
  return {
    language: remembered('language', LANGUAGES, 'curl'),
    apiKey: new State(''),
    isKeyShown: new State(false),
    entityTags: new State<EntityTags>(new Map()),
  };
}
