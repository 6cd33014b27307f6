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

describe('configuration of a prompt', () => {
  it('has defaults', () => {
    expect(readPromptConfig({}, 'p')).toEqual({
      maxSteps: 20,
      maxRetries: 2,
      type: 'prompt',
      tools: [],
      serverTools: [],
      agents: [],
      settings: {},
    })
  })

  it('takes snake case for camel case, and keeps its own keys from the provider', () => {
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

  it('lets a later spelling win, as a step over the front matter', () => {
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

  it('points from subagents to agents', () => {
    expect(refusal({ subagents: ['x'] })).toMatchObject({
      code: 'document_config_error',
      key: 'subagents',
      message: expect.stringContaining('`agents`'),
    })
  })

  it.each(['Authorization', 'HOST', 'content-length', 'Transfer-Encoding', 'bad name', ''])(
    'refuses the header %j',
    (name) => {
      expect(refusal({ headers: { [name]: 'x' } })).toMatchObject({
        code: 'document_config_error',
        key: `headers.${name}`,
      })
    },
  )

  it('refuses a header of two lines and passes plain ones as text', () => {
    expect(refusal({ headers: { 'X-A': 'a\r\nB: c' } })).toMatchObject({ key: 'headers.X-A' })
    expect(readPromptConfig({ headers: { 'X-A': 1 } }, 'p').settings).toEqual({ headers: { 'X-A': '1' } })
  })
})

describe('tools of a prompt', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const weather = { name: 'get_weather', description: 'Weather', parameters: schema }

  it('are read in both shapes', () => {
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
  ])('are refused where stet does not offer them: %j', (tools, feature) => {
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
  ])('name what is wrong: %j', (tools, key) => {
    expect(refusal({ tools })).toMatchObject({ code: 'document_config_error', key })
  })
})
