/**
 * The first steps of a user, with web APIs only, so that they run in every runtime. Calls a stet server and prints the
 * results. The test defines the prompts before it starts this script.
 */

/**
 * @param {{
 *   sdk: typeof import('@stet/sdk')
 *   latitude: typeof import('@stet/sdk/latitude')
 *   apiKey: string
 *   projectId: number
 *   baseUrl: string
 *   shakyUrl: string where the first two streams are cut
 * }} about
 */
export async function runScenario({ sdk, latitude, shakyUrl, ...options }) {
  const { Stet } = sdk
  const stet = new Stet({ ...options, logLevel: 'off' })
  const shaky = new Stet({ ...options, baseUrl: shakyUrl, logLevel: 'off', streaming: { resume: { initialDelay: 5 } } })
  return {
    fetched: (await stet.prompts.get('hello')).path,
    run: (await stet.prompts.run('hello')).response.text,
    json: (await stet.prompts.run('hello', { stream: false })).response.text,
    refused: await refused(sdk, stet),
    resumed: await resumed(shaky),
    tools: await answeredTools(stet),
    turns: (await stet.prompts.run('weather', { toolMode: 'turns', tools: { get_weather: () => 'blue' } })).response
      .text,
    background: await background(stet),
    aborted: await aborted(stet),
    cached: await cached(stet.withOptions({ cache: true })),
    proxied: await proxied(sdk, stet),
    object: await objects(stet),
    latitude: await old(latitude, options),
  }
}

async function refused({ NotFoundError, StetError }, stet) {
  const error = await stet.prompts.get('nowhere').catch((reason) => reason)
  return [error instanceof NotFoundError, StetError.isInstance(error), error.name, error.status]
}

/** The stream breaks twice, but every event arrives once and in order. */
async function resumed(shaky) {
  const stream = shaky.prompts.stream('hello')
  const states = []
  stream.on('sdk', ({ type }) => states.push(type))
  const ids = []
  for await (const { id } of stream) ids.push(Number(id))
  const text = []
  for await (const delta of stream.textStream) text.push(delta)
  const isWhole = ids.every((id, index) => id === index + 1)
  return [isWhole, text.join(''), await stream.finalText(), states.filter((type) => type === 'reconnected').length]
}

async function answeredTools(stet) {
  const asked = []
  const get_weather = async (args, { name, signal, conversationUuid }) => {
    asked.push(name, args.city, signal.aborted, typeof conversationUuid)
    return { sky: 'blue' }
  }
  const { response } = await stet.prompts.run('weather', { tools: { get_weather } })
  return [response.text, asked]
}

async function background(stet) {
  const job = await stet.prompts.run('hello', { background: true })
  let text = ''
  for await (const delta of job.attach().textStream) text += delta
  const { response, uuid } = await job.result()
  return [text, response.text, uuid === job.uuid, (await job.conversation()).status]
}

async function aborted(stet) {
  const stream = stet.prompts.stream('slow')
  const reader = stream.textStream.getReader()
  await reader.read()
  await stream.abort()
  const error = await stream.finalResult().catch((reason) => reason)
  const { status } = await stet.conversations.get(stream.conversationUuid)
  return [error.name, stream.state, status]
}

async function cached(stet) {
  const sources = []
  for (let i = 0; i < 2; i++) sources.push((await stet.prompts.get('hello')).source)
  const down = stet.withOptions({ baseUrl: 'http://127.0.0.1:1', maxRetries: 0 })
  const { source, content } = await down.prompts.get('other', { fallback: 'As shipped' })
  return [...sources, source, content]
}

/** Serves a route that forwards the run, and reads the run as its page. */
async function proxied({ RunStream }, stet) {
  const { stream } = await stet.prompts.stream('hello').withResponse()
  const page = RunStream.fromResponse(stream.toResponse())
  return [await page.finalText(), page.conversationUuid === stream.conversationUuid]
}

async function objects(stet) {
  const stream = stet.prompts.stream('judge')
  const seen = []
  for await (const part of stream.objectStream) seen.push(part)
  return [seen.at(-1), await stream.finalObject()]
}

async function old({ Latitude, LatitudeApiError }, { apiKey, ...options }) {
  const client = new Latitude(apiKey, options)
  const types = []
  const result = await client.prompts.run('hello', { stream: true, onEvent: ({ data }) => types.push(data.type) })
  const error = await client.prompts.get('nowhere').catch((reason) => reason)
  const { messages } = await client.prompts.render({ prompt: { content: 'Hi {{ a }}' }, parameters: { a: 1 } })
  return [result.response.text, types.at(-1), error instanceof LatitudeApiError, messages]
}
