import { describe, expect, it } from 'vitest'
import { RunError } from '../../shared/app-error.ts'
import { readPromptConfig } from './prompt-config.ts'

function refusal(config: Record<string, unknown>): unknown {
  try {
    readPromptConfig(config, 'a/b')
  } catch (error) {
    if (error instanceof RunError) return { code: error.code, message: error.message, ...error.details }
    throw error
  }
  return undefined
}

describe('prompt configuration', () => {
  it('has defaults', () => {
    expect(readPromptConfig({}, 'p')).toEqual({
      maxSteps: 20,
      maxRetries: 2,
      validate: true,
      type: 'prompt',
      tools: [],
      serverTools: [],
      agents: [],
      settings: {},
    })
  })

  it('accepts snake case, and does not send its own keys to the provider', () => {
    const config = {
      provider: 'OpenAI',
      model: 'm',
      max_tokens: 5,
      top_p: 0.5,
      max_steps: 3,
      max_retries: 0,
      type: 'agent',
    }
    expect(
      readPromptConfig({ ...config, name: 'n', parameters: {}, logit_bias: { 1: 2 }, myKey: 1 }, 'p'),
    ).toMatchObject({
      provider: 'OpenAI',
      model: 'm',
      maxSteps: 3,
      maxRetries: 0,
      type: 'agent',
      name: 'n',
      settings: { maxTokens: 5, topP: 0.5, logit_bias: { 1: 2 }, myKey: 1 },
    })
    expect(Object.keys(readPromptConfig(config, 'p').settings)).toEqual(['maxTokens', 'topP'])
  })

  it('prefers a later spelling, so a step overrides the front matter', () => {
    expect(readPromptConfig({ maxTokens: 1, max_tokens: '2' }, 'p').settings).toEqual({ maxTokens: 2 })
  })

  it.each([
    ['temperature', 'warm'],
    ['model', 4],
    ['max_tokens', 1.5],
    ['maxSteps', 0],
    ['maxSteps', 151],
    ['maxRetries', 11],
    ['type', 'robot'],
    ['agents', 'one'],
    ['schema', 'string'],
    ['stop', [1]],
    ['headers', 'x'],
    ['azure', []],
    ['tools', 7],
  ])('refuses %s: %j', (key, value) => {
    expect(refusal({ [key]: value })).toMatchObject({ code: 'document_config_error', key, path: 'a/b' })
  })

  it('suggests `agents` for subagents', () => {
    expect(refusal({ subagents: ['x'] })).toMatchObject({
      code: 'document_config_error',
      key: 'subagents',
      message: expect.stringContaining('`agents`'),
    })
  })

  it.each(['Authorization', 'HOST', 'content-length', 'Transfer-Encoding', 'bad name', ''])(
    'refuses the invalid header %j',
    (name) => {
      expect(refusal({ headers: { [name]: 'x' } })).toMatchObject({
        code: 'document_config_error',
        key: `headers.${name}`,
      })
    },
  )

  it('refuses a header with a line break and converts plain values to text', () => {
    expect(refusal({ headers: { 'X-A': 'a\r\nB: c' } })).toMatchObject({ key: 'headers.X-A' })
    expect(readPromptConfig({ headers: { 'X-A': 1 } }, 'p').settings).toEqual({ headers: { 'X-A': '1' } })
  })
})

describe('prompt tools', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const weather = { name: 'get_weather', description: 'Weather', parameters: schema }

  it('accepts a map or a list', () => {
    const definition = { description: 'Weather', parameters: schema }
    const stop = { name: 'stop', parameters: { type: 'object', properties: {} } }
    expect(readPromptConfig({ tools: { get_weather: definition, stop: null } }, 'p').tools).toEqual([weather, stop])
    expect(readPromptConfig({ tools: [{ get_weather: definition }, { stop: {} }] }, 'p').tools).toEqual([weather, stop])
  })

  it.each([
    [['latitude/search'], 'latitude/search'],
    [['slack/post', { a: {} }], 'slack/post'],
    ['latitude/*', 'latitude/*'],
    [{ openai: [{ type: 'web_search' }] }, 'openai'],
    [[{ openai: [{ type: 'web_search' }] }], 'openai'],
  ])('refuses unsupported tools: %j', (tools, feature) => {
    expect(refusal({ tools })).toMatchObject({
      code: 'unsupported_feature_error',
      feature,
      message: `Tool '${feature}' is not available in stet`,
    })
  })

  it.each([
    [{ 'bad name': {} }, 'tools.bad name'],
    [[{ a: {} }, { a: {} }], 'tools.a'],
    [{ a: 'text' }, 'tools.a'],
    [{ a: { parameters: 'x' } }, 'tools.a.parameters'],
    [{ a: { description: 1 } }, 'tools.a.description'],
    [['plain'], 'tools.plain'],
  ])('names the invalid key: %j', (tools, key) => {
    expect(refusal({ tools })).toMatchObject({ code: 'document_config_error', key })
  })
})
