/** The events of a run before they are numbered and encoded. */
import type { ProviderEvent, LatitudeEvent as WireEvent } from '@stet/contract/vocabulary'
import type { EncodedResponse } from '../run.ts'

export type { ProviderEvent, RunFailure, ToolSource } from '@stet/contract/vocabulary'

/** The keys that encoding adds: the conversation and its facts. */
type AddedByEncoding = 'timestamp' | 'uuid' | 'messages' | 'providerLogUuid' | 'source'

/** The event of the contract without those keys, and with an encoded response. */
type Unencoded<Event extends WireEvent> = Event extends WireEvent
  ? { [Key in keyof Event as Exclude<Key, AddedByEncoding>]-?: Key extends 'response' ? EncodedResponse : Event[Key] }
  : never

/** Events of the run. Each carries the conversation up to that point. Legacy clients get no `tools-requested`. */
export type LatitudeEvent = Unencoded<WireEvent>

export type RunEvent =
  | { provider: ProviderEvent }
  /** `covers`: the number of messages that the event shows. */
  | { latitude: LatitudeEvent; covers: number }

/** Records events in their order before it returns. */
export type ShowEvents = (events: readonly RunEvent[]) => void
