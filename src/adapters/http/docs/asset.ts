/** A file of `/docs`: `file` is its name in `dist/docs`, without `.gz`. */
export interface Asset {
  readonly path: string;
  readonly file: string;
  readonly type: string;
}
