import type { ProviderEvent, LatitudeEvent as WireEvent } from '@stet/contract/vocabulary'
import type { RunError } from '../../../shared/app-error.ts'
import type { EncodedResponse } from '../run.ts'

export type { ProviderEvent, ToolSource } from '@stet/contract/vocabulary'

type AddedByEncoding = 'timestamp' | 'uuid' | 'messages' | 'providerLogUuid' | 'source'

/** The contract's event without the keys that encoding adds. `response` is already encoded. `error` is the failure. */
type Unencoded<Event extends WireEvent> = Event extends WireEvent
  ? {
      [Key in keyof Event as Exclude<Key, AddedByEncoding>]-?: Key extends 'response'
        ? EncodedResponse
        : Key extends 'error'
          ? Pick<RunError, 'code' | 'message' | 'details'>
          : Event[Key]
    }
  : never

/** A `latitude-event`. Its encoding includes all messages so far. Legacy clients do not get `tools-requested`. */
export type LatitudeEvent = Unencoded<WireEvent>

export type RunEvent =
  | { provider: ProviderEvent }
  /** `covers` is the number of messages that the event shows. */
  | { latitude: LatitudeEvent; covers: number }

export type ShowEvents = (events: readonly RunEvent[]) => void
