import { RunError } from '../errors.ts'
import type { ForwardOptions, StreamEvent } from '../events.ts'
import { pageEvent } from './page-events.ts'

/**
 * Yields the events that a page may see, as SSE text with ids. A failed run ends with its `chain-error` event. A broken
 * stream throws, so that the page can resume the run.
 */
export async function* framesOf(events: AsyncIterable<StreamEvent>, o?: ForwardOptions): AsyncGenerator<string> {
  let turnEnd = ''
  try {
    for await (const whole of events) {
      turnEnd = ''
      const event = pageEvent(whole, o)
      if (!event) continue
      // Hold back the terminal event of a round. If a round follows, the page must keep reading and receives no such
      // event.
      if (event.type === 'chain-completed') turnEnd = frameOf(event)
      else yield frameOf(event)
    }
  } catch (error) {
    if (!(error instanceof RunError)) throw error
  }
  if (turnEnd !== '') yield turnEnd
}

function frameOf({ event, data, id }: StreamEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n${id && `id: ${id}\n`}\n`
}
