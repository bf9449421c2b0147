/** The markers of an operation in the OpenAPI document: whether it is deprecated, and whether it can still change. */
export interface OperationLifecycle {
  readonly deprecated?: boolean;
  /** The stability level. Only an operation that can still change has a level. */
  readonly stability?: 'experimental' | 'beta';
}
