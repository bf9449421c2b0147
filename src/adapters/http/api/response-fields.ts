/** A value that stands in one line of the response, or in several. */
export type FieldValue = string | number | readonly string[];

/** The header fields of a response until it is written. Names are compared without their case. */
export class ResponseFields {
  /** Name, value, name, value: a response has few fields, and `writeHead` of Node.js takes them so. */
  readonly list: FieldValue[] = [];

  get(name: string): FieldValue | undefined {
    const index = this.#indexOf(name);
    return index === -1 ? undefined : this.list[index + 1];
  }

  has(name: string): boolean {
    return this.#indexOf(name) !== -1;
  }

  set(name: string, value: FieldValue): void {
    const index = this.#indexOf(name);
    if (index === -1) this.list.push(name, value);
    else this.list[index + 1] = value;
  }

  remove(name: string): void {
    const index = this.#indexOf(name);
    if (index !== -1) this.list.splice(index, 2);
  }

  /** Adds a name to `Vary`. */
  vary(name: string): void {
    const given = this.get('Vary');
    this.set('Vary', given === undefined ? name : `${given}, ${name}`);
  }

  #indexOf(name: string): number {
    const { list } = this;
    for (let index = 0; index < list.length; index += 2) {
      const each = list[index] as string;
      if (each === name) return index;
      if (each.length === name.length && each.toLowerCase() === name.toLowerCase()) return index;
    }
    return -1;
  }
}
