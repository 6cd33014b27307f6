import {
  ApiError,
  type ApiPromise,
  type AsyncIterableStream,
  type OutputOf,
  type Prompts,
  type RunJob,
  type RunResult,
  type RunStream,
  type StandardSchema,
  Stet,
  tool,
} from '../src/index.ts'

interface Registry {
  'support/reply': { parameters: { ticket: string; tone?: 'kind' | 'short' } }
  'support/triage': { parameters: { ticket: string }; output: { urgency: 'low' | 'high' } }
  'news/digest': { parameters: { topic?: string } }
  'travel/plan': { parameters: { to?: string }; tools: { get_weather: { city: string } } }
  free: object
  'lists/tags': { output: string[] }
  'lists/pair': { output: [string, number] }
  'one/of': { output: { kind: 'a'; a: number } | { kind: 'b'; b: string } | null }
  'one/score': { output: number }
  'one/enum': { output: 'low' | 'high' }
  'one/word': { output: 'text' | 'voice' }
  'one/any': { output: unknown }
}

declare function typed<Expected>(value: Expected): void
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
declare function same<A, B>(proof: Same<A, B>): void
declare const stet: Stet
declare const known: Stet<Registry>

// Without a registry, any path and any parameters compile, and the response is text.
typed<ApiPromise<RunResult>>(stet.prompts.run('anything', { parameters: { a: 1 } }))
typed<ApiPromise<RunResult>>(stet.prompts.run('anything'))
typed<RunStream>(stet.prompts.stream('anything', { onText: (delta, snapshot) => typed<string>(delta + snapshot) }))
typed<Promise<string>>(stet.prompts.stream('anything').finalText())

// With a registry, required parameters must be passed.
typed<ApiPromise<RunResult>>(known.prompts.run('support/reply', { parameters: { ticket: 't', tone: 'kind' } }))
typed<ApiPromise<RunResult>>(known.prompts.run('news/digest'))
typed<ApiPromise<RunResult>>(known.prompts.run('news/digest', { parameters: { topic: 't' } }))
typed<ApiPromise<RunResult>>(known.prompts.run('free', { parameters: { anything: 1 } }))
typed<ApiPromise<RunResult>>(known.prompts.run('not/in/registry', { parameters: { anything: 1 } }))
// @ts-expect-error parameters are missing
known.prompts.run('support/reply')
// @ts-expect-error the parameter ticket is missing
known.prompts.run('support/reply', { parameters: {} })
// @ts-expect-error the parameter has a different type
known.prompts.run('support/reply', { parameters: { ticket: 5 } })
// @ts-expect-error the parameter does not allow this value
known.prompts.stream('support/reply', { parameters: { ticket: 't', tone: 'rude' } })
// @ts-expect-error parameters are missing, even where a result type is expected
const awaited: Promise<RunResult> = known.prompts.run('support/reply')

// The response type comes from the registry.
const triage = known.prompts.run('support/triage', { parameters: { ticket: 't' } })
same<Awaited<typeof triage>, RunResult<{ urgency: 'low' | 'high' }>>(true)
triage.then(({ response }) => typed<'low' | 'high'>(response.object.urgency))
same<OutputOf<Registry, 'news/digest'>, 'text'>(true)
const triageStream = known.prompts.stream('support/triage', { parameters: { ticket: 't' } })
typed<Promise<{ urgency: 'low' | 'high' }>>(triageStream.finalObject())
triageStream.on('finished', ({ response }) => typed<'low' | 'high'>(response.object.urgency))
// @ts-expect-error a prompt with a text response has no object
known.prompts.run('news/digest').then(({ response }) => response.object.urgency)

// Schemas can also be lists and scalars.
known.prompts.run('lists/tags').then(({ response }) => same<typeof response.object, string[]>(true))
known.prompts.run('lists/pair').then(({ response }) => same<typeof response.object, [string, number]>(true))
known.prompts.run('one/of').then(({ response: { object } }) => {
  if (object?.kind === 'b') typed<string>(object.b)
  // @ts-expect-error the field may be null
  typed<'a' | 'b'>(object.kind)
})
known.prompts.run('one/score').then(({ response }) => same<typeof response.object, number>(true))
known.prompts.run('one/any').then(({ response }) => same<typeof response.object, unknown>(true))
same<OutputOf<Registry, 'one/enum'>, 'low' | 'high'>(true)
typed<Promise<'low' | 'high'>>(known.prompts.stream('one/enum').finalObject())
known.prompts.run('one/word').then(({ response }) => same<typeof response.object, 'text' | 'voice'>(true))
typed<Promise<'text' | 'voice'>>(known.prompts.stream('one/word').finalObject())
// @ts-expect-error the response type has two words, so one of them is too narrow
typed<Promise<'voice'>>(known.prompts.stream('one/word').finalObject())
same<ReturnType<RunStream['finalObject']>, Promise<never>>(true)
// biome-ignore lint/suspicious/noExplicitAny: applications without types write this
stet.prompts.run<any>('anything').then(({ response }) => response.object.anything[0])
// @ts-expect-error a list is not text
typed<ApiPromise<RunResult>>(known.prompts.run('lists/tags'))
interface Judgement {
  score: number
}
stet.prompts.run<Judgement>('anything').then(({ response }) => typed<number>(response.object.score))
stet.prompts.run<Judgement[]>('anything').then(({ response }) => typed<number | undefined>(response.object[0]?.score))

// An explicit type argument sets the response type of any path.
const named = known.prompts.run<{ score: number }>('anything', { parameters: { a: 1 } })
named.then(({ response }) => typed<number>(response.object.score))
typed<Promise<{ score: number }>>(stet.prompts.stream<{ score: number }>('anything').finalObject())
stet.prompts.chat<{ score: number }>('u', 'text').then(({ response }) => typed<number>(response.object.score))

stet.prompts.run<{ score: number }>('anything', { background: true }).then((job) => {
  typed<RunJob<{ score: number }>>(job)
  // @ts-expect-error a job has no response yet
  job.response
})

stet.prompts.createOrUpdate('a', { prompt: 'x', baseHash: '' })
// @ts-expect-error the text is required
stet.prompts.createOrUpdate('a', {})
// @ts-expect-error this role does not exist
stet.prompts.chat('u', [{ role: 'robot', content: 'x' }])
// @ts-expect-error this option does not exist
new Stet({ key: 'k' })
new Stet('k', { projectId: '1' })
// @ts-expect-error the API key comes first
new Stet({ projectId: 1 }, 'k')

// Events narrow by type.
async function read(stream: RunStream): Promise<void> {
  for await (const event of stream) {
    if (event.type === 'text-delta') typed<string>(event.data.textDelta)
    if (event.type === 'chain-error') typed<string>(event.data.error.code)
    if (event.event === 'latitude-event') typed<string>(event.data.uuid)
    // @ts-expect-error only text deltas have a text
    typed<string>(event.data.textDelta)
  }
}

// Read bytes too, for compilers whose stream types are not iterable.
async function write(stream: RunStream): Promise<void> {
  for await (const bytes of stream.toReadableStream()) typed<Uint8Array>(bytes)
  typed<ReadableStream<Uint8Array>>(stream.toReadableStream())
}
typed<typeof read>(write)

// In a partial response, keys may be missing and strings may be incomplete.
async function grow(
  stream: RunStream<{ urgency: 'low' | 'high'; tags: { name: string; count: number }[] }>,
): Promise<void> {
  for await (const part of stream.objectStream) {
    typed<string | undefined>(part.urgency)
    typed<(string | undefined)[] | undefined>(part.tags?.map(({ name }) => name))
    // @ts-expect-error the field may be missing
    typed<string>(part.urgency)
    // @ts-expect-error the string may be incomplete
    typed<'low' | 'high' | undefined>(part.urgency)
  }
}
typed<(stream: RunStream<{ urgency: 'low' | 'high'; tags: { name: string; count: number }[] }>) => Promise<void>>(grow)
same<RunStream['objectStream'], AsyncIterableStream<unknown>>(true)

// A stream is not a promise, and a result is not a stream.
// @ts-expect-error
same<RunStream extends PromiseLike<unknown> ? true : false, true>(true)
async function iterate(): Promise<void> {
  // @ts-expect-error the result of run() is not a stream
  for await (const event of await stet.prompts.run('a')) typed<never>(event)
}

// Conversations share the chat methods.
same<Stet['conversations']['chat'], Prompts['chat']>(true)
if ((awaited as unknown) instanceof ApiError) typed<(stream: RunStream) => Promise<void>>(read)
typed<() => Promise<void>>(iterate)

// Tools are typed by the registry, a schema, or the caller's own types.
declare const city: StandardSchema<unknown, { city: string }>
known.prompts.run('travel/plan', {
  tools: {
    get_weather: ({ city }, { conversationUuid, signal, pauseExecution }) => {
      same<typeof city, string>(true)
      typed<string>(conversationUuid)
      if (signal.aborted) pauseExecution()
      return { sky: 'blue' }
    },
  },
})
known.prompts.stream('travel/plan', {
  tools: { get_weather: tool({ input: city, execute: ({ city }) => city.length }) },
})
// @ts-expect-error the tool expects a city instead of a place
known.prompts.run('travel/plan', { tools: { get_weather: ({ place }: { place: string }) => place } })
// @ts-expect-error the schema has no place
tool({ input: city, execute: ({ place }) => place })
// @ts-expect-error this object is not a schema
tool({ input: { parse() {} }, execute: () => 1 })
// @ts-expect-error this mode does not exist
stet.prompts.run('anything', { toolMode: 'later' })
stet.prompts.run('anything', { tools: { any_name: async (args, { id }) => [args.whatever, id] } })
stet.prompts.run<'text', { get_weather: { city: string } }>('anything', {
  tools: { get_weather: ({ city }) => same<typeof city, string>(true) },
})
stet.prompts.chat<'text', { find: { q: number } }>('u', 'text', { tools: { find: ({ q }) => q.toFixed() } })
stet.prompts.chat('u', 'text', {
  tools: { find: (args) => args, get_weather: tool({ input: city, execute: () => 1 }) },
})
stet.runs.attach('u', { tools: { find: (args) => args }, lastEventId: '4' })
// @ts-expect-error the tool expects a city
stet.runs.attach<'text', { get_weather: { city: string } }>('u', { tools: { get_weather: (a: { b: number }) => a } })

stet.prompts.get('a', { cache: { ttl: 5 }, fallback: async (e) => e.message }).then(({ source }) => {
  typed<'network' | 'cache' | 'stale' | 'fallback'>(source)
})
known.prompts.prefetch(['support/reply', 'not/in/registry'])
// @ts-expect-error a fallback must include the text
stet.prompts.get('a', { fallback: { path: 'a' } })
new Stet({ cache: true, streaming: { resume: { maxAttempts: 5 }, maxToolRounds: 3 } })
stet.prompts.stream('a', { resume: false }).on('sdk', (event) => {
  if (event.type === 'reconnecting') typed<number>(event.delayMs)
  if (event.type === 'tool-finished') typed<boolean>(event.isError)
})
