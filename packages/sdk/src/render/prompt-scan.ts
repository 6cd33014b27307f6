/**
 * The parts of the prompt engine that `@stet/cli` uses, so that the engine is installed once. An entry of the package without
 * declarations and documentation, because no application may use it: it changes without notice.
 */
export { resolveReferencePath, scan } from '@stet/template'
export { schemaIssues } from '@stet/template/answer-schema'
