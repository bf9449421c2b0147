/** What the document says of an operation that is deprecated, or that can still change. */
export interface OperationLifecycle {
  readonly deprecated?: boolean;
  /** The stability level. Only an operation that can still change has a level. */
  readonly stability?: 'experimental' | 'beta';
}
