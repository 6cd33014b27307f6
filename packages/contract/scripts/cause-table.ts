import type { DocumentedCause } from '../src/causes/cause.ts'
import { type ErrorCause, statusOf } from '../src/causes/error-causes.ts'

/** The table of causes for clients: with statuses, without documentation. */
export function causeTable(causes: Readonly<Record<ErrorCause, DocumentedCause>>): string {
  const names = Object.keys(causes) as ErrorCause[]
  const entries = names.map((name) => {
    const { code, when: _when, next: _next, ...rest } = causes[name]
    return `${JSON.stringify(name)}: ${JSON.stringify({ code, status: statusOf(name), ...rest })},`
  })
  return `import type { CauseEntry } from './error-codes.ts'

export const ERROR_CAUSES = {\n${entries.join('\n')}\n} as const satisfies Record<string, CauseEntry & { status: number }>

/** Why the server refuses a request. */
export type ErrorCause = ${names.map((name) => `| ${JSON.stringify(name)}`).join('\n')}

/** The \`reason\` of an error body. A failed run also has an \`errorCode\`, which names its cause. */
export type ErrorReason = ErrorCause
`
}
