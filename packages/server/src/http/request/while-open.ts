import type { ServerResponse } from 'node:http'
import { contextOf } from './request-context.ts'

/** Aborted when the caller leaves before its answer: a waiting caller is a listener like any other. */
export function whileOpen(res: ServerResponse): AbortSignal {
  const context = contextOf(res)
  context.open ??= openSignal(res)
  return context.open
}

function openSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (res.closed) controller.abort()
  // Not after the answer: an abort makes an error with its stack, which costs more than the rest.
  res.once('close', () => {
    if (!res.writableFinished) controller.abort()
  })
  return controller.signal
}
