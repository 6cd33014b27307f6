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

// The compilers differ in types that this test does not use.
const compilers = [oldest, older, current] as unknown as Compiler[]
describe.each(compilers.map((compiler) => [compiler.version, compiler] as const))('TypeScript %s', (_, compiler) => {
  const complain = (application: string) =>
    complaints(compiler, folder, { 'application.ts': application }, ['application.ts', 'index.d.mts'])

  it('accepts every valid usage and rejects every invalid one', () => {
    expect(USAGE).toContain("from '@stet/sdk'")
    expect(complain(USAGE)).toEqual([])
  })

  it('accepts a registry through module augmentation', () => {
    expect(complain(REGISTRY)).toEqual([])
    const [complaint] = complain(`${REGISTRY}; stet.prompts.run('support/reply', { parameters: {} })`)
    expect(complaint).toMatch(/Property 'ticket' is missing/)
    for (const call of ["run('support/reply')", "stream('support/reply')", "run('support/reply', {})"]) {
      expect(complain(`${REGISTRY}; stet.prompts.${call}`).join(), call).toMatch(/ticket/)
    }
    const [other] = complain(
      `${REGISTRY}; stet.prompts.run('travel/plan', { tools: { get_weather: (a: number) => a } })`,
    )
    expect(other).toMatch(/not assignable/)
  })

  it('rejects unknown paths with strictPaths', () => {
    const strict = `${REGISTRY}; declare module '@stet/sdk' { interface RegistryConfig { strictPaths: true } }`
    expect(complain(strict)).toEqual([expect.stringMatching(/'"another"' is not assignable/)])
  })
})
