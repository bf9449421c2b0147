/** The choices of the reader. They are kept in memory only, and are lost when the tab is closed or reloaded. */

import type { Language } from '../samples/samples.ts';

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

export interface Choices {
  /** The language of all samples. */
  readonly language: State<Language>;
  readonly apiKey: State<string>;
  /** Whether the page shows the API key. Before the reader asks for it, no part of the page shows the key. */
  readonly isKeyShown: State<boolean>;
}

export function newChoices(): Choices {
  return { language: new State<Language>('curl'), apiKey: new State(''), isKeyShown: new State(false) };
}
