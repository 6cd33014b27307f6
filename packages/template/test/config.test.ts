import { describe, expect, it } from 'vitest'
import {
  type ConfigFault,
  type PromptConfig,
  readConfig,
  withDefaults,
  withOverrides,
} from '../src/front-matter/config.ts'

type Config = Record<string, unknown>

function faultsOf(config: Config, supplied?: readonly string[]): ConfigFault[] {
  const faults: ConfigFault[] = []
  readConfig(config, (fault) => faults.push(fault), supplied)
  return faults
}

function read(config: Config, supplied: readonly string[] = []): PromptConfig {
  const refuse = (fault: ConfigFault) => expect(fault).toBeUndefined()
  return readConfig(config, refuse, supplied)
}

describe('prompt configuration', () => {
  it('has defaults', () => {
    expect(read({})).toEqual({
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
    expect(read({ ...config, name: 'n', parameters: {}, logit_bias: { 1: 2 }, myKey: 1 })).toMatchObject({
      provider: 'OpenAI',
      model: 'm',
      maxSteps: 3,
      maxRetries: 0,
      type: 'agent',
      name: 'n',
      settings: { maxTokens: 5, topP: 0.5, logit_bias: { 1: 2 }, myKey: 1 },
    })
    expect(Object.keys(read(config).settings)).toEqual(['maxTokens', 'topP'])
  })

  it('prefers a later spelling, so a step overrides the front matter', () => {
    expect(read({ maxTokens: 1, max_tokens: '2' }).settings).toEqual({ maxTokens: 2 })
  })

  it('converts plain values of headers to text', () => {
    expect(read({ headers: { 'X-A': 1 } }).settings).toEqual({ headers: { 'X-A': '1' } })
  })
})

describe('prompt tools', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const weather = { name: 'get_weather', description: 'Weather', parameters: schema }

  it('accepts a map or a list', () => {
    const definition = { description: 'Weather', parameters: schema }
    const stop = { name: 'stop', parameters: { type: 'object', properties: {} } }
    expect(read({ tools: { get_weather: definition, stop: null } }).tools).toEqual([weather, stop])
    expect(read({ tools: [{ get_weather: definition }, { stop: {} }] }).tools).toEqual([weather, stop])
  })

  it.each([
    [['latitude/search'], 'latitude/search'],
    ['latitude/*', 'latitude/*'],
  ])('refuses a listed tool of others that the operator does not supply: %j', (tools, feature) => {
    const fault = {
      at: expect.anything(),
      key: `tools.${feature}`,
      message: `Tool '${feature}' is not available in stet`,
    }
    expect(faultsOf({ tools }, [])).toEqual([{ ...fault, feature }])
    expect(read({ tools }, [feature.replace('*', 'all')]).serverTools).toHaveLength(1)
  })

  it('refuses a listed tool that the operator does not supply, and accepts any without a list of them', () => {
    const message = "The tool 'plain' needs a definition: the operator supplies none of this name"
    expect(faultsOf({ tools: [{ a: {} }, 'plain'] }, [])).toEqual([{ key: 'tools.plain', at: ['tools', 1], message }])
    expect(faultsOf({ tools: ['plain'] })).toEqual([])
  })
})

describe('overrides', () => {
  it.each([
    [{ model: 'a', temperature: 1 }, { model: 'b' }, { temperature: 1, model: 'b' }],
    [{ top_p: 1, topP: 0.9 }, { topP: 0.5 }, { topP: 0.5 }],
    [{ max_output_tokens: 9, maxOutputTokens: 9, max_tokens: 9 }, { maxTokens: 5 }, { maxTokens: 5 }],
    [{ reasoning_effort: 'high' }, { reasoningEffort: 'low' }, { reasoningEffort: 'low' }],
    [
      { provider_options: { openai: { temperature: 1, top_p: 1, user: 'u' }, google: 'x' } },
      { temperature: 0, topP: 0.5 },
      { provider_options: { openai: { user: 'u' }, google: 'x' }, temperature: 0, topP: 0.5 },
    ],
  ])('replace %o by %o, however it is written', (front, overrides, result) => {
    expect(withOverrides(front, overrides)).toEqual(result)
  })
})

describe('settings of a caller', () => {
  it.each<[string, Config, Config, Config, string[]]>([
    [
      'count where the prompt is silent',
      { model: 'm' },
      { temperature: 1, seed: 2 },
      { model: 'm', temperature: 1, seed: 2 },
      [],
    ],
    ['count beside null', { temperature: null }, { temperature: 1 }, { temperature: 1 }, []],
    ['are ignored for a key in snake case', { top_p: 1 }, { topP: 0.5 }, { top_p: 1 }, ['topP']],
    ['are ignored for a synonym', { stop_sequences: ['a'] }, { stop: ['b'] }, { stop_sequences: ['a'] }, ['stop']],
    [
      'are ignored for options of a provider',
      { providerOptions: { openai: { seed: 1 } } },
      { seed: 2 },
      { providerOptions: { openai: { seed: 1 } } },
      ['seed'],
    ],
    [
      "are ignored for a key of the provider's own form",
      { reasoning: { effort: 'low' } },
      { reasoningEffort: 'high', reasoningSummary: 'auto' },
      { reasoning: { effort: 'low' }, reasoningSummary: 'auto' },
      ['reasoningEffort'],
    ],
    [
      'are ignored for a schema',
      { schema: { type: 'object' } },
      { schema: {} },
      { schema: { type: 'object' } },
      ['schema'],
    ],
    ['lower a limit of tokens', { max_tokens: '90' }, { maxTokens: 50 }, { max_tokens: 50 }, []],
    [
      'lower each limit',
      { maxOutputTokens: 90, maxTokens: 10 },
      { maxTokens: 50 },
      { maxOutputTokens: 50, maxTokens: 10 },
      [],
    ],
    [
      'do not raise a limit of tokens',
      { maxOutputTokens: 9 },
      { maxTokens: 50 },
      { maxOutputTokens: 9 },
      ['maxTokens'],
    ],
  ])('%s', (_, config, given, expected, ignored) => {
    expect(withDefaults(config, given)).toEqual({ config: expected, ignored })
  })

  it('leave the configuration itself unchanged', () => {
    const config = { maxTokens: 90 }
    withDefaults(config, { maxTokens: 1, seed: 1 })
    expect(config).toEqual({ maxTokens: 90 })
  })
})
