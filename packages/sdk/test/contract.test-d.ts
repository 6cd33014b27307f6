import type * as wire from '@stet/contract/vocabulary'
import type { ErrorDetails } from '../src/error-details.ts'
import type { AnyRunResponse, LatitudeEventData, ProviderEventData } from '../src/events.ts'
import type { AttachOptions, ChatOptions, RunOptions } from '../src/options.ts'
import type {
  Conversation,
  ConversationSummary,
  EvaluationInput,
  Example,
  LogEntry,
  Me,
  Prompt,
  Provider,
  ProviderKeyInfo,
  ProviderTest,
  RunResult,
  Version,
} from '../src/types.ts'

/** Fails to compile unless the client's type accepts every value of the wire type. */
declare function accepts<Public, Wire extends Public>(keys: Same<KeysOf<Public>, KeysOf<Wire>>): [Public, Wire]

type KeysOf<T> = T extends unknown ? { [K in keyof T]: true } : never
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? 'same keys' : ['other keys', A, B]

accepts<Prompt, wire.Document>('same keys')
accepts<Version, wire.Version>('same keys')
accepts<Omit<RunResult, 'response'>, Omit<wire.RunResult, 'response'>>('same keys')
accepts<Conversation, wire.Conversation>('same keys')
accepts<ConversationSummary, wire.ConversationSummary>('same keys')
accepts<Example, wire.Example>('same keys')
accepts<LogEntry, wire.LogEntry>('same keys')
accepts<Provider, wire.Provider>('same keys')
accepts<ProviderTest, wire.ProviderTest>('same keys')
accepts<ProviderKeyInfo, wire.ProviderKey>('same keys')
accepts<Me, wire.Me>('same keys')
accepts<LatitudeEventData, wire.LatitudeEvent>('same keys')
accepts<ProviderEventData, wire.ProviderEvent>('same keys')
// A text response has an undefined `object`, so that code can read both kinds alike.
accepts<Omit<AnyRunResponse, 'object'>, Omit<wire.RunResponse, 'object'>>('same keys')

/** The reasons with details, and the keys of each. */
type Causes = typeof wire.ERROR_CAUSES
type WithDetails = { [R in keyof Causes]: Causes[R] extends { details: readonly string[] } ? R : never }[keyof Causes]
declare function sameDetails<R extends WithDetails>(
  keys: { [K in R]: Same<keyof ErrorDetails[K], Causes[K] extends { details: readonly (infer D)[] } ? D : never> }[R],
): Same<keyof ErrorDetails, WithDetails>
const same: 'same keys' = sameDetails<WithDetails>('same keys')

export { same }

/** The body fields that are not options, because the client sets them itself. */
type Offered<Body, Own> = Exclude<keyof Body, keyof Own>
declare function holds<T extends Expected, Expected>(): T
holds<Offered<wire.RunDocumentBody, RunOptions<object, string>>, 'path'>()
holds<Offered<wire.ChatBody, ChatOptions>, 'messages'>()
holds<Offered<wire.AttachBody, AttachOptions>, never>()
holds<Offered<wire.CreateEvaluationBody, EvaluationInput>, 'projectId'>()

// @ts-expect-error only one side has this key
accepts<Prompt, wire.Document & { more?: string }>('same keys')
// @ts-expect-error the client does not accept this type
accepts<Version, Omit<wire.Version, 'id'> & { id: string }>('same keys')
