import { expect, it } from 'vitest'
import { createRunEventLog } from '../../src/adapters/in-process/run-event-log.ts'
import { MessageReader } from '../../src/adapters/providers/anthropic/answer.ts'
import { ChatReader } from '../../src/adapters/providers/openai/chat/answer.ts'
import { ResponseReader } from '../../src/adapters/providers/openai/responses/answer.ts'
import { createRunProgress } from '../../src/features/runs/events/run-progress.ts'
import { framesOf } from '../../src/features/runs/events/watch-run.ts'
import { eventCodec } from '../../src/wire/event-log-format.ts'
import { addFrame } from '../../src/wire/run-frames.ts'
import { providerAt, serviceOf } from '../support/model-request.ts'

/** Returns the names of accessors. V8 stores an object literal with accessors as a dictionary of 250 to 450 bytes. */
function accessorsOf(made: object): string[] {
  const properties = Object.entries(Object.getOwnPropertyDescriptors(made))
  return properties.flatMap(([name, { get, set }]) => (get || set ? [name] : []))
}

it('objects that live as long as a run have no accessors', () => {
  const logs = createRunEventLog(1_000_000)
  const writer = logs.open('run', () => {})
  const reader = logs.follow('run', 0)
  if (!reader) throw new Error('The log is open')
  const progress = createRunProgress(eventCodec, [])
  const provider = serviceOf(providerAt(null))
  const request = { settings: {}, tools: [] }
  const made = {
    writer,
    reader,
    frames: framesOf(reader, addFrame),
    progress,
    chat: new ChatReader(provider, request),
    responses: new ResponseReader(provider),
    messages: new MessageReader(provider, request),
  }
  for (const [name, object] of Object.entries(made)) expect([name, accessorsOf(object)]).toEqual([name, []])
})
