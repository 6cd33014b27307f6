/**
 * Clients of OpenAI's API, unchanged, against the server at `STET_BASE_URL` with the key in `STET_API_KEY` and the
 * provider of `scripted-provider.ts`. Prints one line for each check, and the names of the failed ones at the end.
 */

import { createOpenResponses } from '@ai-sdk/open-responses'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, Output, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'

const base = `${process.env.STET_BASE_URL}/v1`
const key = process.env.STET_API_KEY
const M = 'support/reply',
  T = 'weather in SF?'
let ok = 0,
  bad = 0
const check = async (name, f) => {
  try {
    const r = await f()
    if (r === false) throw new Error('false')
    ok++
    console.log('ok  ', name, typeof r === 'string' ? `- ${r.slice(0, 110)}` : '')
  } catch (e) {
    bad++
    console.log('FAIL', name, '-', e?.name, e?.message?.slice(0, 300), e?.cause?.message ?? '')
  }
}
const eq = (a, b) => {
  if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${JSON.stringify(a)} != ${JSON.stringify(b)}`)
}
const c = new OpenAI({ baseURL: base, apiKey: key, maxRetries: 2 })
const fn = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
  },
}
const rfn = { type: 'function', name: 'get_weather', strict: false, parameters: fn.function.parameters }
await check('openai models.list', async () => {
  const l = await c.models.list()
  return l.data.map((m) => m.id).join()
})
await check('openai models.retrieve with slash', async () => (await c.models.retrieve(M)).id)
await check(
  'openai chat json + parameters',
  async () =>
    (
      await c.chat.completions.create({
        model: M,
        messages: [{ role: 'user', content: 'hi' }],
        parameters: { ticket: 'T1' },
      })
    ).choices[0].message.content,
)
await check('openai chat stream + usage', async () => {
  const s = await c.chat.completions.create({
    model: M,
    messages: [{ role: 'user', content: 'hi' }],
    stream: true,
    stream_options: { include_usage: true },
  })
  let t = '',
    u
  for await (const k of s) {
    t += k.choices[0]?.delta?.content ?? ''
    u = k.usage ?? u
  }
  if (!u) throw new Error('no usage')
  return t
})
await check('openai chat stream helper', async () => {
  const r = c.chat.completions.stream({ model: M, messages: [{ role: 'user', content: 'hi' }] })
  return (await r.finalChatCompletion()).choices[0].message.content
})
await check('openai chat tools stream helper', async () => {
  const r = c.chat.completions.stream({ model: M, messages: [{ role: 'user', content: T }], tools: [fn] })
  const f = await r.finalChatCompletion()
  eq(f.choices[0].finish_reason, 'tool_calls')
  return f.choices[0].message.tool_calls[0].function.arguments
})
await check('openai chat runTools', async () => {
  const r = c.chat.completions.runTools({
    model: M,
    messages: [{ role: 'user', content: T }],
    tools: [{ type: 'function', function: { ...fn.function, function: () => '21 C', parse: JSON.parse } }],
  })
  return await r.finalContent()
})
await check('openai chat parse json_schema', async () => {
  const r = await c.chat.completions.parse({
    model: M,
    messages: [{ role: 'user', content: 'hi' }],
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'a',
        strict: true,
        schema: {
          type: 'object',
          properties: { answer: { type: 'string' }, n: { type: 'number' } },
          required: ['answer', 'n'],
          additionalProperties: false,
        },
      },
    },
  })
  eq(r.choices[0].message.parsed.n, 42)
})
await check('openai chat error mid-stream', async () => {
  const s = await c.chat.completions.create({ model: M, messages: [{ role: 'user', content: 'FAIL' }], stream: true })
  try {
    for await (const _ of s);
  } catch (e) {
    return `${e.constructor.name} code=${e.code} ${e.message}`
  }
  return false
})
await check('openai chat 422 not retried', async () => {
  try {
    await c.chat.completions.create({ model: M, messages: [{ role: 'user', content: 'FAIL' }] })
  } catch (e) {
    return `${e.constructor.name} ${e.status} code=${e.code} type=${e.type}`
  }
  return false
})
await check('openai 404 model', async () => {
  try {
    await c.chat.completions.create({ model: 'openai/gpt-5-mini', messages: [{ role: 'user', content: 'x' }] })
  } catch (e) {
    return `${e.constructor.name} ${e.code} ${e.message}`
  }
  return false
})
await check('openai 401', async () => {
  try {
    await new OpenAI({ baseURL: base, apiKey: 'no' }).models.list()
  } catch (e) {
    return `${e.constructor.name} ${e.code}`
  }
  return false
})
await check('openai responses json', async () => {
  const r = await c.responses.create({ model: M, input: 'hi' })
  eq(r._request_id?.startsWith('req_'), true)
  return r.output_text
})
await check(
  'openai responses prompt object',
  async () => (await c.responses.create({ prompt: { id: M, version: '3', variables: { ticket: 'T2' } } })).output_text,
)
await check('openai responses stream helper', async () => {
  const s = c.responses.stream({ model: M, input: 'hi THINK' })
  let t = ''
  s.on('response.output_text.delta', (e) => (t += e.delta))
  const f = await s.finalResponse()
  eq(f.output_text, t)
  eq(
    f.output.map((i) => i.type),
    ['reasoning', 'message'],
  )
  return t
})
await check('openai responses tools stream', async () => {
  const s = c.responses.stream({ model: M, input: T, tools: [rfn] })
  const f = await s.finalResponse()
  return `${f.output[0].type} ${f.output[0].arguments}`
})
await check('openai responses parse', async () => {
  const r = await c.responses.parse({
    model: M,
    input: 'hi',
    text: {
      format: {
        type: 'json_schema',
        name: 'a',
        strict: true,
        schema: {
          type: 'object',
          properties: { answer: { type: 'string' }, n: { type: 'number' } },
          required: ['answer', 'n'],
          additionalProperties: false,
        },
      },
    },
  })
  eq(r.output_parsed.n, 42)
})
await check('openai responses incomplete', async () => {
  const f = await c.responses.stream({ model: M, input: 'LONG' }).finalResponse()
  eq([f.status, f.incomplete_details.reason], ['incomplete', 'max_output_tokens'])
})
await check('openai responses failed', async () => {
  const f = await c.responses.stream({ model: M, input: 'FAIL' }).finalResponse()
  eq([f.status, f.error.code], ['failed', 'ai_run_error'])
})
await check('openai previous_response_id', async () => {
  const a = await c.responses.create({ model: M, input: 'one' })
  const b = await c.responses.create({ model: M, input: 'two', previous_response_id: a.id })
  eq(b.previous_response_id, a.id)
  eq(b.conversation.id, a.conversation.id)
})
await check('openai background poll', async () => {
  let r = await c.responses.create({ model: M, input: 'hi', background: true })
  const seen = [r.status]
  while (['queued', 'in_progress'].includes(r.status)) {
    await new Promise((d) => setTimeout(d, 150))
    r = await c.responses.retrieve(r.id)
    seen.push(r.status)
  }
  eq(r.status, 'completed')
  return [...new Set(seen)].join()
})
await check('openai background stream, cut, resume starting_after', async () => {
  const s = await c.responses.create({ model: M, input: 'hi', background: true, stream: true })
  let id,
    last,
    t = ''
  for await (const e of s) {
    id ??= e.response?.id
    last = e.sequence_number
    if (e.type === 'response.output_text.delta') t += e.delta
    if (t.length > 20) break
  }
  const seqs = []
  for await (const e of await c.responses.retrieve(id, { stream: true, starting_after: last })) {
    seqs.push(e.sequence_number)
    if (e.type === 'response.output_text.delta') t += e.delta
  }
  eq(seqs[0], last + 1)
  const f = await c.responses.retrieve(id)
  eq(f.output_text, t)
  return `resumed at ${last + 1}, total ${seqs.at(-1)}`
})
await check('openai stream helper by response_id', async () => {
  const a = await c.responses.create({ model: M, input: 'hi' })
  const f = await c.responses.stream({ response_id: a.id, starting_after: 3 }).finalResponse()
  eq(f.output_text, a.output_text)
})
await check('openai background cancel', async () => {
  const r = await c.responses.create({ model: M, input: 'hi', background: true })
  const x = await c.responses.cancel(r.id)
  eq(x.status, 'cancelled')
})
await check('openai cancelled stream', async () => {
  const s = c.responses.stream({ model: M, input: 'hi', background: true })
  s.once('response.created', (e) => c.responses.cancel(e.response.id))
  const f = await s.finalResponse()
  return `${f.status} ${JSON.stringify(f.incomplete_details)}`
})
const weather = tool({
  description: 'w',
  inputSchema: z.object({ location: z.string() }),
  execute: async () => ({ celsius: 21 }),
})
const providers = {
  '@ai-sdk/openai responses': createOpenAI({ baseURL: base, apiKey: key })(M),
  '@ai-sdk/openai chat': createOpenAI({ baseURL: base, apiKey: key }).chat(M),
  '@ai-sdk/openai-compatible': createOpenAICompatible({
    name: 'stet',
    baseURL: base,
    apiKey: key,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(M),
  '@ai-sdk/open-responses': createOpenResponses({ name: 'stet', url: `${base}/responses`, apiKey: key })(M),
}
for (const [name, model] of Object.entries(providers)) {
  await check(`${name} generateText + header parameters`, async () => {
    const r = await generateText({
      model,
      instructions: 'Be brief.',
      prompt: 'hi',
      headers: { 'X-Stet-Parameters': '{"ticket":"T3"}' },
    })
    eq(r.usage.outputTokens, 7)
    eq(r.finishReason, 'stop')
    if (!r.text.includes('T3')) throw new Error(r.text)
    return r.text
  })
  await check(`${name} streamText`, async () => {
    const r = streamText({ model, prompt: 'hi THINK' })
    let _t = ''
    for await (const p of r.textStream) _t += p
    eq((await r.usage).inputTokens, 12)
    eq(await r.finishReason, 'stop')
    return `reasoning=${await r.reasoningText}`
  })
  await check(`${name} tool loop`, async () => {
    const r = await generateText({ model, prompt: T, tools: { get_weather: weather }, stopWhen: stepCountIs(4) })
    eq(r.steps.length, 2)
    eq(r.steps[0].finishReason, 'tool-calls')
    return r.text
  })
  await check(`${name} tool loop stream`, async () => {
    const r = streamText({ model, prompt: T, tools: { get_weather: weather }, stopWhen: stepCountIs(4) })
    for await (const _p of r.textStream);
    eq((await r.steps).length, 2)
  })
  await check(`${name} object`, async () => {
    const r = await generateText({
      model,
      prompt: 'hi',
      output: Output.object({ schema: z.object({ answer: z.string(), n: z.number() }) }),
    })
    eq(r.output.n, 42)
  })
  await check(`${name} failed stream`, async () => {
    let err
    const r = streamText({ model, prompt: 'FAIL', onError: (e) => (err = e.error), maxRetries: 0 })
    try {
      for await (const _p of r.textStream);
    } catch (e) {
      err ??= e
    }
    if (!err) return false
    return `${err.name ?? err.constructor?.name} ${err.message ?? JSON.stringify(err)} fr=${await Promise.resolve(r.finishReason).catch((e) => e.name)}`
  })
  await check(`${name} 404 message`, async () => {
    const bad = name.includes('open-responses')
      ? createOpenResponses({ name: 'stet', url: `${base}/responses`, apiKey: key })('nope')
      : name.includes('compatible')
        ? createOpenAICompatible({ name: 'stet', baseURL: base, apiKey: key })('nope')
        : createOpenAI({ baseURL: base, apiKey: key })('nope')
    try {
      await generateText({ model: bad, prompt: 'x', maxRetries: 0 })
    } catch (e) {
      if (!/no live prompt/.test(e.message)) throw e
      return e.message
    }
    return false
  })
}
await check('@ai-sdk/openai-compatible providerOptions.parameters', async () => {
  const r = await generateText({
    model: providers['@ai-sdk/openai-compatible'],
    prompt: 'hi',
    providerOptions: { stet: { parameters: { ticket: 'T5' } } },
  })
  if (!r.text.includes('T5')) throw new Error(r.text)
  return r.text
})
await check('@ai-sdk/openai previousResponseId', async () => {
  const a = await generateText({ model: providers['@ai-sdk/openai responses'], prompt: 'one' })
  const id = a.providerMetadata.openai.responseId
  await generateText({
    model: providers['@ai-sdk/openai responses'],
    prompt: 'two',
    providerOptions: { openai: { previousResponseId: id } },
  })
  return id
})
await check('@ai-sdk/openai second turn sends item_reference', async () => {
  const model = providers['@ai-sdk/openai responses']
  const a = await generateText({ model, prompt: 'one' })
  const r = await generateText({
    model,
    messages: [{ role: 'user', content: 'one' }, ...a.response.messages, { role: 'user', content: 'two' }],
  })
  return r.text
})
for (const useResponsesApi of [false, true]) {
  const mk = (o = {}) =>
    new ChatOpenAI({ model: M, apiKey: key, useResponsesApi, configuration: { baseURL: base }, maxRetries: 0, ...o })
  const n = `langchain ChatOpenAI ${useResponsesApi ? 'responses' : 'chat'}`
  await check(`${n} invoke + modelKwargs.parameters`, async () => {
    const r = await mk({ modelKwargs: { parameters: { ticket: 'T4' } } }).invoke('hi')
    if (!r.text.includes('T4')) throw new Error(r.text)
    eq(r.usage_metadata.output_tokens, 7)
    return r.text
  })
  await check(`${n} stream`, async () => {
    let t = ''
    for await (const k of await mk().stream('hi')) t += k.text
    if (!t) return false
    return t
  })
  await check(`${n} tools`, async () => {
    const r = await mk()
      .bindTools([{ type: 'function', function: fn.function }])
      .invoke(T)
    eq(r.tool_calls[0].name, 'get_weather')
    return r.tool_calls[0].id
  })
  await check(`${n} structured output`, async () => {
    const r = await mk()
      .withStructuredOutput(z.object({ answer: z.string(), n: z.number() }), { method: 'jsonSchema' })
      .invoke('hi')
    eq(r.n, 42)
  })
}
console.log(`${ok} ok, ${bad} failed`)
process.exit(bad ? 1 : 0)
