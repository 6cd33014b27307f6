import type { contract } from '@stet/contract'
import { defined } from '@stet/template/defined'
import type { ExternalLog } from '../../features/external-logs/external-log.ts'
import { recordExternalLog } from '../../features/external-logs/record-external-log.ts'
import { externalLogBody } from '../../wire/conversation.ts'
import { callerOf, whileOpen } from '../auth/request-context.ts'
import { versionAddress } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'

export function externalLogRoutes(deps: HttpDeps): Routes<typeof contract.logs> {
  return {
    create: async ({ params, body: { duration, ...body }, req, res }) => {
      const subjectOf = ({ conversation }: ExternalLog) => ({ conversationUuid: conversation.uuid })
      return onlyOnce(deps, { req, res, status: 200, bodyOf: externalLogBody, subjectOf }, (own) =>
        recordExternalLog(own, {
          caller: callerOf(res),
          ...versionAddress(params),
          signal: whileOpen(res),
          ...body,
          ...defined({ durationMs: duration }),
        }),
      )
    },
  }
}
