import type { contract } from '@stet/contract'
import { recordLog } from '../../features/logs/record-log.ts'
import type { HttpDeps } from '../http-deps.ts'
import { versionAddress } from '../input/version-address.ts'
import type { Routes } from '../mount.ts'
import { callerOf, whileOpen } from '../request/request-context.ts'
import { onlyOnce } from '../response/only-once.ts'
import { logEntryBody } from '../wire/log-entry.ts'

export function logRoutes(deps: HttpDeps): Routes<typeof contract.logs> {
  return {
    create: async ({ params, body: { duration, ...body }, req, res }) => {
      const created = ({ uuid }: { uuid: string }) => ({ conversationUuid: uuid })
      return onlyOnce(deps, { req, res, status: 200, created }, async (own) => {
        const entry = await recordLog(own, {
          caller: callerOf(res),
          ...versionAddress(params),
          signal: whileOpen(res),
          ...body,
          ...(duration === undefined ? {} : { durationMs: duration }),
        })
        return logEntryBody(entry)
      })
    },
  }
}
