import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { similarNames } from '@stet/template/similar-names'
import type { z } from 'zod'
import { isWellFormedApiKey } from './features/access/api-key.ts'
import { settings, variableOf } from './settings.ts'
import { OperatorError } from './shared/app-error.ts'

type Values = { [K in keyof typeof settings]: z.output<(typeof settings)[K]> }

export type Config = Readonly<
  Values & {
    /** This package's folder, which contains the migrations, the evaluation thread and the database template. */
    packageRoot: string
    version: string
    /** Checks responses against the contract. Off in production, where a failure would lose finished work. */
    validateResponses: boolean
    /** Variables with the prefix `STET_` that neither the server nor another stet program uses. */
    unknownVariables: readonly { variable: string; didYouMean: string | undefined }[]
  }
>

/** An empty variable counts as unset. @throws OperatorError with one line for each invalid setting, without values. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(settings)) {
    const variable = variableOf(schema)
    const parsed = schema.safeParse(environment[variable] || undefined)
    if (parsed.success) values[name] = parsed.data
    else problems.push(`${variable} ${parsed.error.issues[0]?.message}`)
  }
  // Each value was parsed with its setting's schema. Invalid settings are missing until the throw below.
  const config = values as Values
  if (config.adminKey !== undefined && !isWellFormedApiKey(config.adminKey)) {
    problems.push('STET_ADMIN_KEY is not a well-formed key; make one with: stet-server generate-key admin')
  }
  if (
    config.databaseUrl !== undefined &&
    config.encryptionKeys === undefined &&
    !problems.some((line) => line.startsWith('STET_ENCRYPTION_KEY'))
  ) {
    problems.push(
      'STET_ENCRYPTION_KEY is required with DATABASE_URL; make one with: stet-server generate-key encryption',
    )
  }
  if (config.redisUrl !== undefined && config.databaseUrl === undefined) {
    problems.push('REDIS_URL requires DATABASE_URL: several servers share a PostgreSQL database')
  }
  if (problems.length > 0) throw new OperatorError(problems.join('\n'))
  const packageRoot = findPackageRoot()
  return Object.freeze({
    ...config,
    dataDir: resolve(config.dataDir),
    packageRoot,
    version: serverVersion(),
    validateResponses: environment['NODE_ENV'] === 'test' || environment['NODE_ENV'] === 'development',
    unknownVariables: unknownVariables(Object.keys(environment)),
  })
}

// Variables of the CLI, the SDK and the tests. `stet serve` passes its environment to the server.
const foreignVariables =
  /^STET_(API_KEY|BASE_URL|PROJECT_ID|VERSION_UUID|LOG|OUTPUT|PROFILE|CONFIG|NO_INPUT|DEBUG|PAGER|PUBLISH_KEY|TEST_\w+)$/

function unknownVariables(names: readonly string[]): Config['unknownVariables'] {
  const known = Object.values(settings).map(variableOf)
  const bare = (variable: string) => variable.replace(/^STET_/, '')
  return names
    .filter((name) => name.startsWith('STET_') && !known.includes(name) && !foreignVariables.test(name))
    .map((variable) => {
      // Compares without the prefix, which would make all names look similar.
      const [meant] = similarNames(bare(variable), known.map(bare), { limit: 1, atLeast: 0.5 })
      return { variable, didYouMean: known.find((name) => bare(name) === meant) }
    })
}

// This file runs from src/ or, when built, from dist/. The nearest parent with a package.json is the package.
function findPackageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

export function serverVersion(): string {
  const manifest = readFileSync(join(findPackageRoot(), 'package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
