/** The marks of an operation in the document: it is deprecated, or can still change. */
export interface OperationLifecycle {
  readonly deprecated?: boolean;
  /** The stability level. Only an operation that can still change has a level. */
  readonly stability?: 'experimental' | 'beta';
}
