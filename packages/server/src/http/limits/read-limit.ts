/** Bounds the conversations that a key reads at once: each may be megabytes, several times on its way to the response. */
import type { Response } from 'express'
import { AppError } from '../../shared/app-error.ts'
import { callerOf } from '../request/request-context.ts'

/** A client that reads slowly gives its place back after this; `unread-limit` bounds what it holds. */
const mostHeldMs = 2_000

interface Line {
  open: number
  waiting: (() => void)[]
}

/** @returns resolves when the conversation may be read; the place is free again once its response has left. */
export function createReadLimit(mostPerKey: number): (res: Response) => Promise<void> {
  const lines = new Map<number, Line>()
  return async (res) => {
    const { apiKeyId } = callerOf(res)
    const line = lines.get(apiKeyId) ?? { open: 0, waiting: [] }
    lines.set(apiKeyId, line)
    // A place that becomes free goes to the next in line.
    if (line.open >= mostPerKey) await new Promise<void>((resolve) => line.waiting.push(resolve))
    else line.open += 1
    let isLeft = false
    const leave = () => {
      if (isLeft) return
      isLeft = true
      clearTimeout(timer)
      const next = line.waiting.shift()
      if (next) return next()
      line.open -= 1
      if (line.open === 0) lines.delete(apiKeyId)
    }
    const timer = setTimeout(leave, mostHeldMs).unref()
    if (!res.closed) return void res.once('close', leave)
    leave()
    throw new AppError('ServiceUnavailableError', 'The client has left')
  }
}
