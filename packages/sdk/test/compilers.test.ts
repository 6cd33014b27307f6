import { readFileSync } from 'node:fs'
import current from 'typescript'
import oldest from 'typescript-5.4'
import older from 'typescript-5.9'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Compiler, complaints } from './support/compiler.ts'
import { built } from './support/packed.ts'

const USAGE = readFileSync(new URL('types.test-d.ts', import.meta.url), 'utf8').replace('../src/index.ts', '@stet/sdk')
const REGISTRY = `import { Stet } from '@stet/sdk'
  declare module '@stet/sdk' {
    interface PromptRegistry {
      'support/reply': { parameters: { ticket: string }; output: { score: number } }
      'travel/plan': { tools: { get_weather: { city: string } } }
    }
  }
  const stet = new Stet()
  stet.prompts.run('support/reply', { parameters: { ticket: 't' } }).then(({ response }) => response.object.score.toFixed())
  stet.prompts.run('travel/plan', { tools: { get_weather: ({ city }) => city.length } })
  stet.prompts.run('another')
`

let folder: string
beforeAll(async () => {
  folder = await built('compilers-test')
})

// The compilers differ in types that this test does not use. The one in between is for a release.
const between = process.env['STET_TEST_LONG'] === '1' ? [older] : []
const compilers: Compiler[] = [oldest, ...between, current]
describe.each(compilers.map((compiler) => [compiler.version, compiler] as const))('TypeScript %s', (_, compiler) => {
  const complain = (application: string) =>
    complaints(compiler, folder, { 'application.ts': application }, ['application.ts', 'index.d.mts'])

  it('accepts every valid usage and rejects every invalid one', () => {
    expect(USAGE).toContain("from '@stet/sdk'")
    expect(complain(USAGE)).toEqual([])
  })

  it('accepts a registry through module augmentation, and rejects unknown paths with strictPaths', () => {
    const wrong: [call: string, complaint: RegExp][] = [
      ["run('support/reply', { parameters: {} })", /Property 'ticket' is missing/],
      ["run('support/reply')", /ticket|arguments/],
      ["stream('support/reply')", /ticket|arguments/],
      ["run('support/reply', {})", /ticket/],
      ["run('travel/plan', { tools: { get_weather: (a: number) => a } })", /not assignable/],
    ]
    const lines = wrong.map(([call]) => `stet.prompts.${call}`)
    const start = REGISTRY.split('\n').length
    const found = complain([REGISTRY.trimEnd(), ...lines].join('\n'))
    for (const [index, [call, complaint]] of wrong.entries()) {
      const own = found.filter((text) => text.startsWith(`${start + index}: `))
      expect(own.join(), call).toMatch(complaint)
    }
    expect(found.filter((text) => Number.parseInt(text, 10) < start)).toEqual([])
    const strict = `${REGISTRY}; declare module '@stet/sdk' { interface RegistryConfig { strictPaths: true } }`
    expect(complain(strict)).toEqual([expect.stringMatching(/'"another"' is not assignable/)])
  })
})
