/**
 * Proves that the checks detect drift from the contract. Applies mutations to the contract one by one, and fails for
 * each mutation that no check detects. The checks are the compiler, per package, and `openapi.json`.
 * So far it caught that openapi.json lacked rate limits and safe repeats (832d2730). It costs minutes: passed-inputs.ts.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { consistentMutations, type Mutation, mutations } from './drift-mutations.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const contractFolder = `${root}packages/contract`

/** The mutated files by path. All other files are read from disk. */
type Overlay = ReadonlyMap<string, string>

/** A package that is compiled repeatedly. Unchanged sources are parsed once. */
class Package {
  readonly #options: ts.CompilerOptions
  readonly #rootNames: readonly string[]
  readonly #host: ts.CompilerHost
  #overlay: Overlay = new Map()
  #program: ts.Program | undefined

  constructor(readonly name: string) {
    const config = `${root}packages/${name}/tsconfig.json`
    const { config: json } = ts.readConfigFile(config, ts.sys.readFile)
    const parsed = ts.parseJsonConfigFileContent(json, ts.sys, dirname(config))
    this.#options = { ...parsed.options, noEmit: true }
    // Type tests are checks too. Runtime tests are not.
    this.#rootNames = parsed.fileNames.filter((file) => /\/(src|scripts)\/|\.test-d\.ts$/.test(file))
    this.#host = ts.createCompilerHost(this.#options)
    const { getSourceFile, readFile } = this.#host
    this.#host.readFile = (file) => this.#overlay.get(file) ?? readFile.call(this.#host, file)
    this.#host.getSourceFile = (file, languageVersion) => {
      const text = this.#overlay.get(file)
      if (text !== undefined) return ts.createSourceFile(file, text, languageVersion)
      const known = parsedFiles.get(file) ?? getSourceFile.call(this.#host, file, languageVersion)
      if (known) parsedFiles.set(file, known)
      return known
    }
  }

  /** Returns the compiler's first error. Mutated files are checked first. */
  complaint(overlay: Overlay): string | undefined {
    this.#overlay = overlay
    const program = ts.createProgram({
      rootNames: [...this.#rootNames],
      options: this.#options,
      host: this.#host,
      ...(this.#program && { oldProgram: this.#program }),
    })
    this.#program = program
    const own = program.getSourceFiles().filter(({ fileName }) => isOurs(fileName))
    const mutated = own.filter(({ fileName }) => overlay.has(fileName))
    for (const source of [...mutated, ...own]) {
      const [found] = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      if (found) return `${relative(root, source.fileName)}: ${ts.flattenDiagnosticMessageText(found.messageText, ' ')}`
    }
    return undefined
  }
}

const parsedFiles = new Map<string, ts.SourceFile>()

function isOurs(file: string): boolean {
  return file.startsWith(`${root}packages/`) && !file.includes('/node_modules/') && !file.includes('/generated/')
}

/** Compares `openapi.json` with the mutated contract, in a copy of the contract folder. */
function staleDocument(overlay: Overlay): string | undefined {
  const copy = `${contractFolder}/node_modules/.drift`
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(copy, { recursive: true })
  for (const name of ['src', 'scripts', 'samples', 'openapi.json', 'package.json']) {
    cpSync(`${contractFolder}/${name}`, `${copy}/${name}`, { recursive: true })
  }
  for (const [file, text] of overlay) writeFileSync(resolve(copy, relative(contractFolder, file)), text)
  const { status } = spawnSync('tsx', [`${copy}/scripts/emit-openapi.ts`, '--check'], { stdio: 'ignore' })
  rmSync(copy, { recursive: true, force: true })
  return status === 0 ? undefined : 'openapi.json is stale'
}

function overlayOf({ name, edits }: Mutation): Overlay {
  const texts = new Map<string, string>()
  for (const { file, from, to } of edits) {
    const path = `${root}${file}`
    const text = texts.get(path) ?? readFileSync(path, 'utf8')
    if (text.split(from).length !== 2) throw new Error(`${name}: ${file} does not contain exactly once: ${from}`)
    texts.set(
      path,
      text.replace(from, () => to),
    )
  }
  return texts
}

function noticed(overlay: Overlay, checks: readonly Check[]): string | undefined {
  for (const { name, complaint } of checks) {
    const found = complaint(overlay)
    if (found !== undefined) return `${name}: ${found}`
  }
  return undefined
}

interface Check {
  name: string
  complaint: (overlay: Overlay) => string | undefined
}

function compilerCheck(name: string): Check {
  const compiled = new Package(name)
  return { name: `${name} compiles`, complaint: (overlay) => compiled.complaint(overlay) }
}

// Each group runs in a separate process, because a CI machine has two cores.
const groups = {
  contract: {
    mutations,
    checks: () => [compilerCheck('contract'), { name: 'generated files', complaint: staleDocument }],
  },
  clients: { mutations: consistentMutations, checks: () => ['sdk', 'cli', 'server'].map(compilerCheck) },
}

function missedOf(group: keyof typeof groups): number {
  const checks = groups[group].checks()
  const early = noticed(new Map(), checks)
  if (early !== undefined) throw new Error(`Not clean before any mutation: ${early}`)
  const missed = groups[group].mutations.filter((mutation) => {
    const by = noticed(overlayOf(mutation), checks)
    console.log(by === undefined ? `MISSED ${mutation.name}` : `caught ${mutation.name} (${by.slice(0, 110)})`)
    return by === undefined
  })
  return missed.length
}

const [, script = '', group] = process.argv
if (group === 'contract' || group === 'clients') {
  process.exitCode = missedOf(group) === 0 ? 0 : 1
} else {
  const startedMs = Date.now()
  const children = Object.keys(groups).map((name) => spawn('tsx', [script, name], { stdio: 'inherit' }))
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
  const isCaught = codes.every((code) => code === 0)
  const total = mutations.length + consistentMutations.length
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(0)
  console.log(`drift: ${isCaught ? `${total} mutations caught` : 'FAILED'} in ${seconds} s`)
  process.exitCode = isCaught ? 0 : 1
}
