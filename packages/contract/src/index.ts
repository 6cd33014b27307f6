export { ERROR_CAUSES, type ErrorCause, statusOf } from './causes/error-causes.ts'
export { CAUSES_OUTSIDE_ROUTES, causesOf, isRefusedWhenFull, readsBody } from './causes-of.ts'
export {
  ContentHash,
  DocumentPath,
  Id,
  KeyScope,
  Name,
  Person,
  PromptText,
  type RawResponse,
  Timestamp,
  Uuid,
} from './common.ts'
export {
  type ConsoleContract,
  type Contract,
  consoleContract,
  contract,
  listConsoleRoutes,
  listRoutes,
  type Route,
} from './contract.ts'
export { ERROR_STATUSES, ErrorBody, type ErrorStatus, RunErrorCode } from './errors.ts'
export { Health, type OperatorRoute, type OperatorRouteName, operatorRoutes } from './operator-routes.ts'
export { API_PREFIX, consoleRoutes, type RouteMetadata, routes } from './routes.ts'
export * from './schemas/agreement.ts'
export * from './schemas/api-keys.ts'
export { Change, ChangeStatus, PushChangesBody, PushResult } from './schemas/changes.ts'
export { Check } from './schemas/checks.ts'
export * from './schemas/console.ts'
export * from './schemas/conversations.ts'
export * from './schemas/documents.ts'
export * from './schemas/environments.ts'
export * from './schemas/evaluations.ts'
export * from './schemas/examples.ts'
export * from './schemas/experiments.ts'
export * from './schemas/gates.ts'
export * from './schemas/import-version.ts'
export * from './schemas/labels.ts'
export * from './schemas/logs.ts'
export * from './schemas/merges.ts'
export * from './schemas/messages.ts'
export * from './schemas/projects.ts'
export * from './schemas/provider-api-keys.ts'
export * from './schemas/providers.ts'
export * from './schemas/publish-version.ts'
export * from './schemas/reports.ts'
export * from './schemas/run-events.ts'
export * from './schemas/run-records.ts'
export * from './schemas/runs.ts'
export * from './schemas/stats.ts'
export * from './schemas/tools.ts'
export * from './schemas/versions.ts'
export type { CauseEntry } from './vocabulary/error-codes.ts'
export { LIMITS } from './vocabulary/limits.ts'
