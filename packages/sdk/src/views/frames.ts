import { RunError } from '../errors.ts'
import type { ForwardOptions, StreamEvent } from '../stream/events.ts'
import { pageEvent } from './page-events.ts'

/**
 * The events that a page may see, as an event stream with ids. A failed run ends with its chain-error. A cut stream
 * errors, so that the page resumes.
 */
export async function* framesOf(events: AsyncIterable<StreamEvent>, o?: ForwardOptions): AsyncGenerator<string> {
  let turnEnd = ''
  try {
    for await (const whole of events) {
      turnEnd = ''
      const event = pageEvent(whole, o)
      if (!event) continue
      // The end of a round that tools continue is not the end of the run, so the reader behind the proxy must read on.
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
