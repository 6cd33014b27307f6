/** Every charge counts, the same work costs the same fuel, and fuel bounds time and memory. */
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { build, type Rollup } from 'vite'
import { describe, expect, it } from 'vitest'
import { MAX_FUEL, Meter } from '../src/evaluate/values/fuel.ts'
import { type CompiledPrompt, compilePrompt, renderStep } from '../src/index.ts'
import { type Engine, type FuelRow, fuelRows, runRow } from './fuel-rows.ts'
import { leastCpuMs } from './support.ts'

/** Compiling takes no fuel, so each row is compiled once. */
const compiled = new Map<string, CompiledPrompt>()
const engine: Engine = {
  compilePrompt(source) {
    const prompt = compiled.get(source.content) ?? compilePrompt(source)
    compiled.set(source.content, prompt)
    return prompt
  },
  renderStep,
}
const isLong = process.env['STET_TEST_LONG'] === '1'
const rows = Object.entries(fuelRows)

/** Runs a row. Returns its end and the fuel that it took. */
function spent(row: FuelRow, fuel?: number): { end: string; units: number } {
  const meters: Meter[] = []
  const end = runRow(engine, row, () => {
    const meter = new Meter(fuel)
    meters.push(meter)
    return meter
  })
  // Work that was refused took none of the fuel that was left.
  return { end, units: meters.reduce((sum, { left }) => sum + (fuel ?? MAX_FUEL) - Math.max(left, 0), 0) }
}

it('is the same for the same work', () => {
  for (const [name, row] of rows) expect(spent(row, 10_000), name).toEqual(spent(row, 10_000))
})

/** Another load of the machine would fail these measurements, so `pnpm test:long` alone makes them. */
function measureUnits(): void {
  const NS = 100
  const BYTES = 100
  /** A factor for code that V8 has not compiled yet. */
  const MARGIN_MS = 5
  /** The garbage that V8 gathers before it collects. */
  const MARGIN_BYTES = 33_554_432
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')

  it.each(rows)('takes at most 100 ns and 100 bytes in %s', (_name, row) => {
    const { units } = spent(row)
    expect(leastCpuMs(5, () => spent(row))).toBeLessThan((units * NS) / 1e6 + MARGIN_MS)
    collect()
    const before = process.memoryUsage().heapUsed
    spent(row)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(units * BYTES + MARGIN_BYTES)
  })
}
if (isLong) describe('one unit', measureUnits)

describe('charges', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const isPriced = (file: string): boolean => /\/src\/evaluate\//.test(file) && !file.endsWith('/fuel.ts')

  /** An evaluator in which every charge passes its own number first. */
  async function numberedCharges(): Promise<{ code: string; charges: string[] }> {
    const charges: string[] = []
    const numbered = (code: string, file: string): string =>
      code.replace(/\.(spend|spendText|count)\(/g, (_call, name: string, at: number) => {
        const line = code.slice(0, at).split('\n').length
        charges.push(`${file.slice(root.length)}:${line} ${code.split('\n')[line - 1]?.trim()}`)
        return `.${name}At(${charges.length - 1}, `
      })
    const transform = (code: string, file: string): string => {
      if (!file.endsWith('/src/index.ts')) return isPriced(file) ? numbered(code, file) : code
      return `${code}\nexport * from './evaluate/output.ts'\nexport * from './evaluate/values/fuel.ts'`
    }
    const result = await build({
      root,
      configFile: false,
      logLevel: 'error',
      build: { lib: { entry: 'src/index.ts', formats: ['es'] }, write: false, minify: false },
      plugins: [{ name: 'charges', enforce: 'pre', transform }],
    })
    const [bundle] = result as Rollup.RollupOutput[]
    return { code: bundle?.output[0].code ?? '', charges }
  }

  it('change the fuel or the end of a row, each of them', async () => {
    const { code, charges } = await numberedCharges()
    const paid = new Set<number>()
    const own = await import(`data:text/javascript,${encodeURIComponent(code)}`)
    const { prototype } = own.Meter
    Object.assign(prototype, {
      spendAt(number: number, units: number) {
        if (units >= 1) paid.add(number)
        prototype.spend.call(this, units)
      },
      spendTextAt(number: number, chars: number) {
        if (chars >= 16) paid.add(number)
        prototype.spendText.call(this, chars)
      },
    })
    Object.assign(own.Output.prototype, {
      countAt(number: number, chars: number) {
        if (chars >= 16) paid.add(number)
        own.Output.prototype.count.call(this, chars)
      },
    })
    for (const [, row] of rows) runRow(own, row, () => new own.Meter(row.isLate ? MAX_FUEL : 30_000))
    // Taking one away fails here, and adding one needs a row.
    expect(charges).toHaveLength(81)
    expect(charges.filter((_, number) => !paid.has(number))).toEqual([])
  })
})
