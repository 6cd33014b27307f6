interface Source {
  fileName: string
  text: string
}

interface Host {
  fileExists(name: string): boolean
  readFile(name: string): string | undefined
  getSourceFile(name: string, target: number): Source | undefined
}

/** The parts of TypeScript used here. Whole releases are not assignable to each other. */
export interface Compiler {
  version: string
  ScriptTarget: { ES2022: number }
  ModuleKind: { ESNext: number }
  ModuleResolutionKind: { Bundler: number }
  createCompilerHost(options: Record<string, unknown>): Host
  createSourceFile(name: string, text: string, target: number): Source
  createProgram(names: readonly string[], options: Record<string, unknown>, host?: Host): Program
  flattenDiagnosticMessageText(text: Diagnostic['messageText'], newLine: string): string
}

interface Program {
  getOptionsDiagnostics(): readonly Diagnostic[]
  getSourceFiles(): readonly Source[]
  getSyntacticDiagnostics(source?: Source): readonly Diagnostic[]
  getSemanticDiagnostics(source?: Source): readonly Diagnostic[]
}

interface Diagnostic {
  messageText: string | { messageText: string; category: number; code: number }
  file?: Source | undefined
  start?: number | undefined
}

export function complaints(
  compiler: Compiler,
  folder: string,
  texts: Record<string, string>,
  check: string[],
): string[] {
  const options = {
    strict: true,
    noEmit: true,
    types: [],
    target: compiler.ScriptTarget.ES2022,
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable', 'esnext.disposable'].map((name) => `lib.${name}.d.ts`),
    module: compiler.ModuleKind.ESNext,
    moduleResolution: compiler.ModuleResolutionKind.Bundler,
    paths: { '@stet/sdk': [`${folder}/index.d.mts`] },
  }
  const virtual = new Map(Object.entries(texts).map(([name, text]) => [`${folder}/${name}`, text]))
  const host = compiler.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (name) => virtual.has(name) || fileExists.call(host, name)
  host.readFile = (name) => virtual.get(name) ?? readFile.call(host, name)
  host.getSourceFile = (name, ...rest) => {
    const text = virtual.get(name)
    if (text !== undefined) return compiler.createSourceFile(name, text, compiler.ScriptTarget.ES2022)
    const key = `${compiler.version} ${name}`
    const source = parsed.get(key) ?? getSourceFile.call(host, name, ...rest)
    if (source) parsed.set(key, source)
    return source
  }
  const program = compiler.createProgram([...virtual.keys()], options, host)
  const found = [
    ...program.getOptionsDiagnostics(),
    ...program
      .getSourceFiles()
      .filter(({ fileName }) => check.some((name) => fileName === `${folder}/${name}`))
      .flatMap((source) => [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]),
  ]
  return found.map(({ messageText, file, start = 0 }) => {
    const line = file ? file.text.slice(0, start).split('\n').length : 0
    return `${line}: ${compiler.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

// Cache the standard library, because parsing it takes most of the time.
const parsed = new Map<string, Source>()
