import type { Message } from '@stet/contract/vocabulary'
import { describe, expect, it } from 'vitest'
import { demoDriver } from '../../src/adapters/providers/demo/driver.ts'
import { instanceOf } from '../../src/adapters/providers/demo/instance.ts'
import { batchesOf, callOf, chunksOf, modelRequest, textOf } from '../support/model-request.ts'

const demo = demoDriver()
const ask = (more: Parameters<typeof modelRequest>[1] = {}) => chunksOf(callOf(demo, modelRequest(null, more)))
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

describe('demo provider', () => {
  it('states that it is not a real model, echoes the prompt, and counts words', async () => {
    const chunks = await ask({ messages: [user('Why is the sky blue?')] })
    expect(textOf(chunks)).toContain('not a real model')
    expect(textOf(chunks)).toContain('Why is the sky blue?')
    expect(chunks.at(-1)).toMatchObject({ finishReason: 'stop', usage: { inputTokens: 5 } })
  })

  it('returns the same answer streamed word by word or in one batch', async () => {
    const batches = await batchesOf(callOf(demo, modelRequest(null, { stream: false })))
    const streamed = await ask()
    expect(batches).toHaveLength(1)
    expect(batches.flat()).toEqual(streamed)
    expect(await ask()).toEqual(streamed)
    expect(streamed.length).toBeGreaterThan(20)
  })

  it('stops at the token limit', async () => {
    const chunks = await ask({ settings: { maxTokens: 4 } })
    expect(textOf(chunks)).toBe("I'm the demo provider,")
    expect(chunks.at(-1)).toMatchObject({ finishReason: 'length' })
  })

  it('follows a schema', async () => {
    const schema = {
      type: 'object',
      properties: { mood: { enum: ['good', 'bad'] }, score: { type: 'integer', minimum: 3 } },
      required: ['mood', 'score'],
    }
    expect(JSON.parse(textOf(await ask({ schema })))).toEqual({ mood: 'good', score: 3 })
  })

  it('calls a tool that the prompt names once, and answers with its result', async () => {
    const tools = [
      { name: 'other', parameters: {} },
      { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
    ]
    const messages = [user('Use get_weather for Bern.')]
    const call = (await ask({ tools, messages })).find(({ type }) => type === 'tool-call')
    expect(call).toEqual({
      type: 'tool-call',
      id: 'demo-1',
      toolName: 'get_weather',
      args: { city: 'demo' },
      rawArgs: '{"city":"demo"}',
    })
    const answered: Message[] = [
      ...messages,
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'demo-1', toolName: 'get_weather', args: {} }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'demo-1', toolName: 'get_weather', result: { degrees: 9 } }],
      },
    ]
    expect(textOf(await ask({ tools, messages: answered }))).toContain('The tool get_weather answered: {"degrees":9}')
  })

  it('calls a tool only if the configuration requires it', async () => {
    const tools = [
      { name: 'f', parameters: {} },
      { name: 'g', parameters: {} },
    ]
    const called = async (settings: Record<string, unknown>, prompt = 'Say hey') =>
      (await ask({ tools, settings, messages: [user(prompt)] })).flatMap((chunk) =>
        chunk.type === 'tool-call' ? [chunk.toolName] : [],
      )
    expect(await called({ tool_choice: 'required' })).toEqual(['f'])
    expect(await called({ toolChoice: { type: 'function', function: { name: 'g' } } })).toEqual(['g'])
    expect(await called({ tool_choice: 'none' }, 'call g')).toEqual([])
    expect(await called({})).toEqual([])
  })

  it('stops on abort with the reason of the abort', async () => {
    const controller = new AbortController()
    const reason = new Error('stop now')
    const call = callOf(demo, modelRequest(null, { signal: controller.signal }))
    await expect(call(() => void controller.abort(reason))).rejects.toBe(reason)
  })
})

describe('schema instance', () => {
  it.each([
    [{ type: 'array', items: { type: 'string', minLength: 6 }, minItems: 2 }, ['demo..', 'demo 2']],
    [{ type: ['null', 'number'], exclusiveMinimum: 3, multipleOf: 2 }, 4],
    [{ anyOf: [{ const: 7 }, { type: 'string' }] }, 7],
    [{ type: 'string', format: 'date' }, '2026-01-02'],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'boolean' } } }, true],
    [
      { allOf: [{ type: 'object', properties: { a: { type: 'null' } } }, { properties: { b: { default: 1 } } }] },
      { a: null, b: 1 },
    ],
    [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'z'] },
      { a: 'demo', z: 'demo' },
    ],
    [{}, 'demo'],
  ])('matches %j', (schema, instance) => {
    expect(instanceOf(schema)).toEqual(instance)
  })

  it('terminates for a recursive schema', () => {
    const node = { type: 'object', properties: { next: { $ref: '#' } } }
    expect(JSON.stringify(instanceOf(node)).length).toBeLessThan(200)
    expect(instanceOf({ $ref: '#' })).toBeNull()
  })
})
