/** The events of a run before they are numbered and encoded. */
import type { ProviderEvent, LatitudeEvent as WireEvent } from '@stet/contract/vocabulary'
import type { RunError } from '../../../shared/app-error.ts'
import type { EncodedResponse } from '../run.ts'

export type { ProviderEvent, ToolSource } from '@stet/contract/vocabulary'

/** The keys that encoding adds: the conversation and its facts. */
type AddedByEncoding = 'timestamp' | 'uuid' | 'messages' | 'providerLogUuid' | 'source'

/** The event of the contract without those keys, with an encoded response and the failure itself. */
type Unencoded<Event extends WireEvent> = Event extends WireEvent
  ? {
      [Key in keyof Event as Exclude<Key, AddedByEncoding>]-?: Key extends 'response'
        ? EncodedResponse
        : Key extends 'error'
          ? Pick<RunError, 'code' | 'message' | 'details'>
          : Event[Key]
    }
  : never

/** Events of the run. Each carries the conversation up to that point. Legacy clients get no `tools-requested`. */
export type LatitudeEvent = Unencoded<WireEvent>

export type RunEvent =
  | { provider: ProviderEvent }
  /** `covers`: the number of messages that the event shows. */
  | { latitude: LatitudeEvent; covers: number }

/** Records events in their order before it returns. */
export type ShowEvents = (events: readonly RunEvent[]) => void
