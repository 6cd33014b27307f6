import { RunError } from '../errors.ts'
import type { ForwardOptions, StreamEvent } from '../stream/events.ts'
import { pageEvent } from './page-events.ts'

/**
 * The events as a page may see them, in the form of an event stream, ids kept. A failed run ends with its chain-error; a
 * stream that was cut errors, so that the page joins again.
 */
export async function* framesOf(events: AsyncIterable<StreamEvent>, o?: ForwardOptions): AsyncGenerator<string> {
  let turnEnd = ''
  try {
    for await (const whole of events) {
      turnEnd = ''
      const event = pageEvent(whole, o)
      if (!event) continue
      // the end of a turn that tools continue is not the end of the run: the reader behind the proxy shall read on
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
