import { RunError } from '../errors.ts'
import type { StreamEvent } from '../stream/events.ts'

/**
 * The events as the bytes of an event stream, ids kept. A run that failed ends it with its chain-error; a stream that was
 * cut errors, so that the reader knows.
 */
export async function* framesOf(events: AsyncIterable<StreamEvent>): AsyncGenerator<string> {
  let turnEnd = ''
  try {
    for await (const event of events) {
      turnEnd = ''
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
