export type Labels = Readonly<Record<string, string | number>>;

/** A value, and its labels. */
export type Sample = readonly [value: number, labels?: Labels];

type Samples = readonly Sample[];

/** A counter or a gauge for the registry of prom-client, whose values are read when the metrics are requested. */
export class Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly aggregator = 'sum';
  readonly #read: () => Samples | Promise<Samples>;

  constructor(type: 'counter' | 'gauge', name: string, help: string, read: () => Samples | Promise<Samples>) {
    this.type = type;
    this.name = name;
    this.help = help;
    this.#read = read;
  }

  /** The method that the registry calls. */
  async get(): Promise<object> {
    const { name, help, type, aggregator } = this;
    const samples = await this.#read();
    return {
      name,
      help,
      type,
      aggregator,
      values: samples.map(([value, labels = {}]) => ({ value, labels })),
    };
  }

  reset(): void {}
}
