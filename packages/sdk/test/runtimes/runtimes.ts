/** Finds the runtimes for the scenario: every installed Node, and those in the `package.json` in this folder. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { supportedNodes } from '../../../../scripts/supported-nodes.ts'
import { newProject, type Packed, runIn } from '../package/packed.ts'

export interface ScenarioOptions {
  apiKey: string
  projectId: number
  baseUrl: string
  /** The same server behind a proxy that cuts the first two streams. */
  shakyUrl: string
}

export interface TestedRuntime {
  name: string
  isHere: boolean
  /** Runs the scenario in an empty project that has the package installed. Returns its output. */
  run(packed: Packed, options: ScenarioOptions): Promise<unknown>
}

export const INSTALL =
  'npx -y pnpm@10.34.9 install --ignore-workspace --frozen-lockfile --dir packages/sdk/test/runtimes'

const here = fileURLToPath(new URL('.', import.meta.url))
const bun = `${here}node_modules/@oven/bun-linux-x64/bin/bun`
const deno = `${here}node_modules/@deno/linux-x64-glibc/deno`
const workerd = `${here}node_modules/@cloudflare/workerd-linux-64/bin/workerd`

export function testedRuntimes(): TestedRuntime[] {
  const denoRun = [deno, 'run', '--no-lock', '--node-modules-dir=manual', '--allow-net', '--allow-env'] as const
  return [
    ...supportedNodes().map((node) => program(`node at ${node}`, [node])),
    program('bun', [bun, 'run']),
    program('deno', [...denoRun]),
    { name: 'workerd', isHere: existsSync(workerd), run: runInWorker },
  ]
}

const IMPORTS = `
  import * as sdk from '@stet/sdk'
  import * as latitude from '@stet/sdk/latitude'
  import { runScenario } from './scenario.mjs'
`
const call = (options: ScenarioOptions) => `runScenario({ sdk, latitude, ...${JSON.stringify(options)} })`

function projectWith(packed: Packed, main: string): string {
  const project = newProject(packed)
  cpSync(`${here}scenario.mjs`, `${project}/scenario.mjs`)
  writeFileSync(`${project}/main.mjs`, `${IMPORTS}\n${main}`)
  return project
}

function program(name: string, command: [string, ...string[]]): TestedRuntime {
  return {
    name,
    isHere: existsSync(command[0]),
    async run(packed, options) {
      const project = projectWith(packed, `console.log(JSON.stringify(await ${call(options)}))`)
      const environment = { DENO_DIR: `${project}/.deno`, DENO_NO_UPDATE_CHECK: '1' }
      return JSON.parse(await runIn(project, [...command, 'main.mjs'], environment))
    },
  }
}

/** A worker is one script that answers requests, so the scenario runs inside a request. */
async function runInWorker(packed: Packed, options: ScenarioOptions): Promise<unknown> {
  const handler = `export default { fetch: async () => Response.json(await ${call(options)}) }`
  const project = projectWith(packed, handler)
  await build({
    entryPoints: [`${project}/main.mjs`],
    outfile: `${project}/worker.mjs`,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  })
  writeFileSync(`${project}/config.capnp`, CONFIG)
  // workerd prints its port as a line of JSON.
  const worker = spawn(workerd, ['serve', 'config.capnp', '--control-fd=1'], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(worker, 'exit')
  const dies = ended.then(() => Promise.reject(new Error('The worker did not start')))
  try {
    const [line] = (await Promise.race([once(createInterface(worker.stdout), 'line'), dies])) as [string]
    const { port } = JSON.parse(line) as { port: number }
    const answer = await fetch(`http://127.0.0.1:${port}`)
    if (!answer.ok) throw new Error(`The worker failed: ${await answer.text()}`)
    return await answer.json()
  } finally {
    worker.kill()
    await ended
  }
}

const CONFIG = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
      compatibilityDate = "2026-01-01",
    )),
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`
