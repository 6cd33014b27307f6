import type { ProviderEvent, LatitudeEvent as WireEvent } from '@stet/contract/vocabulary'
import type { EncodedResponse } from '../run.ts'

export type { ProviderEvent, RunFailure, ToolSource } from '@stet/contract/vocabulary'

type AddedByEncoding = 'timestamp' | 'uuid' | 'messages' | 'providerLogUuid' | 'source'

/** The contract's event without the keys that encoding adds, and with an encoded response. */
type Unencoded<Event extends WireEvent> = Event extends WireEvent
  ? { [Key in keyof Event as Exclude<Key, AddedByEncoding>]-?: Key extends 'response' ? EncodedResponse : Event[Key] }
  : never

/** A `latitude-event`. Each includes the conversation so far. Legacy clients do not get `tools-requested`. */
export type LatitudeEvent = Unencoded<WireEvent>

export type RunEvent =
  | { provider: ProviderEvent }
  /** `covers` is the number of messages that the event shows. */
  | { latitude: LatitudeEvent; covers: number }

export type ShowEvents = (events: readonly RunEvent[]) => void
