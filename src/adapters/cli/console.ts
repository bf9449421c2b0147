/** Where a command writes: results to standard output, everything else to standard error. */
export interface Console {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}
