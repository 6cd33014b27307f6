import { calcPrice, waitForUpdate } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import { priceBook } from '../../src/adapters/prices/price-book.ts'
import type { ProviderSettings } from '../../src/features/providers/model-driver.ts'
import type { PricedCall } from '../../src/features/providers/ports.ts'
import { findPriceRule, priceRuleProblem, usageOf } from '../../src/features/providers/usage.ts'
import { providerAt } from '../support/model-request.ts'

const prices = priceBook()
const at = new Date('2026-01-02T03:00:00Z')
const usage = usageOf({ input: 1000, cachedInput: 600, output: 200, reasoning: 50 })
const costAt = (provider: Partial<ProviderSettings>, model = 'gpt-4o', more = {}) =>
  prices.pricesOf(providerAt(null, provider)).costOf({ model, usage, at, ...more })

function tablePrice(providerId: string, { model, usage, cacheWriteTokens }: PricedCall) {
  const counts = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cachedInputTokens,
    cache_write_tokens: cacheWriteTokens,
  }
  try {
    const price = calcPrice(counts, model, { providerId, timestamp: at })
    return price ? { cost: Number(price.total_price.toFixed(12)), known: true } : { cost: 0, known: false }
  } catch {
    return { cost: 0, known: false }
  }
}

describe('prices', () => {
  it('count cached and reasoning tokens once', () => {
    expect(costAt({})).toEqual({ cost: 0.00375, known: true })
  })

  it('depend on the address of a custom key', () => {
    expect(costAt({ kind: 'custom', url: 'https://api.openai.com/v1' })).toEqual({ cost: 0.00375, known: true })
    expect(costAt({ kind: 'custom', url: 'https://models.example.com/v1' })).toEqual({ cost: 0, known: false })
  })

  it.each([
    ['openai', 'gpt-4o'],
    ['azure', 'gpt-4o'],
    ['anthropic', 'claude-sonnet-4-5'],
    ['google', 'gemini-2.5-flash'],
    ['google', 'models/gemini-2.5-flash'],
    ['google_vertex', 'google/gemini-2.5-flash'],
    ['groq', 'openai/gpt-oss-120b'],
    ['mistral', 'mistral-large-latest'],
    ['deepseek', 'deepseek-reasoner'],
    ['xai', 'grok-4'],
    ['perplexity', 'sonar-pro'],
    ['amazon_bedrock', 'us.anthropic.claude-sonnet-4-20250514-v1:0'],
  ])('exist in the table for %s, %s', (kind, model) => {
    const { cost, known } = costAt({ kind }, model)
    expect(known).toBe(true)
    expect(cost).toBeGreaterThan(0)
  })

  it('are those at the time of the call, independent of earlier calls', () => {
    const [before, after] = ['2025-06-09T00:00:00Z', '2025-06-11T00:00:00Z'].map((time) => ({ at: new Date(time) }))
    const asked = [before, after, before].map((more) => costAt({}, 'o3', more).cost)
    expect(asked).toEqual([0.0123, 0.0027, 0.0123])
  })

  it('match the price table for every model', async () => {
    const counted = [
      { input: 1000, cachedInput: 600, cacheWriteTokens: 0, output: 200 },
      { input: 7, cachedInput: 2, cacheWriteTokens: 3, output: 1 },
      { input: 300_000, cachedInput: 0, cacheWriteTokens: 0, output: 9 },
    ]
    let compared = 0
    for (const { id, models } of (await waitForUpdate()) ?? []) {
      const own = prices.pricesOf(providerAt(null, { kind: id }))
      for (const { id: model } of models) {
        for (const { cacheWriteTokens, ...counts } of counted) {
          const call = { model, usage: usageOf(counts), cacheWriteTokens, at }
          expect({ model, ...own.costOf(call) }).toEqual({ model, ...tablePrice(id, call) })
          compared += 1
        }
      }
    }
    expect(compared).toBeGreaterThan(3_000)
  })

  it('use the model names of a gateway', () => {
    const openrouter = { kind: 'custom', url: 'https://openrouter.ai/api/v1' }
    expect(costAt(openrouter, 'google/gemini-2.5-flash')).toMatchObject({ known: true })
  })

  it.each([
    ['azure', 'my-deployment'],
    ['openai', 'ft:gpt-4o:acme::x'],
  ])('are unknown for %s, %s', (kind, model) => {
    expect(costAt({ kind }, model)).toEqual({ cost: 0, known: false })
  })

  it('are unknown for a longer name with the prefix of a known model', () => {
    expect(costAt({ kind: 'anthropic' }, `claude-sonnet-4-5-${'x'.repeat(500)}`)).toEqual({ cost: 0, known: false })
  })

  it('follow the served model for a deployment', () => {
    expect(costAt({ kind: 'azure' }, 'my-deployment', { servedModel: 'gpt-4o-2024-08-06' })).toEqual({
      cost: 0.00375,
      known: true,
    })
  })

  it('from the operator override the table', () => {
    const configuration = { prices: [{ model: 'gpt-4*', input: 1, cachedInput: 0.1, cacheWrite: 3, output: 2 }] }
    expect(costAt({ configuration })).toEqual({ cost: 0.00086, known: true })
    expect(costAt({ configuration }, 'gpt-4o', { cacheWriteTokens: 100 })).toEqual({ cost: 0.00106, known: true })
    expect(costAt({ configuration: { prices: [{ model: 'other', input: 1, output: 2 }] } })).toEqual({
      cost: 0.00375,
      known: true,
    })
  })

  it('are zero and marked unknown if not found; the demo provider is free', () => {
    expect(costAt({}, 'no-such-model')).toEqual({ cost: 0, known: false })
    expect(costAt({ isDemo: true, kind: 'custom' })).toEqual({ cost: 0, known: true })
  })

  it('are rounded to 12 decimals and never negative', () => {
    const odd = usageOf({ input: 1, cachedInput: 600, output: 1 })
    const configuration = { prices: [{ model: '*', input: 0.1, output: 0.2 }] }
    expect(costAt({ configuration }, 'x', { usage: odd })).toEqual({ cost: 3e-7, known: true })
    expect(costAt({}, 'gpt-4o', { usage: odd }).cost).toBeGreaterThan(0)
  })
})

describe('price rules', () => {
  it.each([
    ['gpt-4o', 'gpt-4o', true],
    ['gpt-4o', 'gpt-4o-mini', false],
    ['gpt-*', 'gpt-4o', true],
    ['*-mini', 'gpt-4o-mini', true],
    ['g*4*i', 'gpt-4o-mini', true],
    ['ab*ba', 'aba', false],
    ['*', '', true],
    ['(a+)+$', 'aaaa', false],
  ])('compares %s with %s: %s', (model, asked, fits) => {
    expect(findPriceRule([{ model, input: 1, output: 1 }], asked) !== undefined).toBe(fits)
  })

  it.each([
    [null],
    [{}],
    [{ model: 'x', input: -1, output: 1 }],
    [{ model: 'x', input: 1 }],
    [{ model: 'x', input: 1, output: 1, cacheWrite: 'y' }],
  ])('refuses %j', (rule) => {
    expect(priceRuleProblem(rule)).toBeDefined()
    expect(findPriceRule([rule], 'x')).toBeUndefined()
  })
})
