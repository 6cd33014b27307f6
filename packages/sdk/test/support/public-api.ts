/** Collects the public names of every entry through the compiler, with the examples in their comments. */
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Applications implement these interfaces. The option that accepts them has the example. */
const IMPLEMENTED_BY_CALLERS = ['Logger', 'Hooks', 'CacheStore']

interface PublicName {
  entry: string
  name: string
  isValue: boolean
  /** True if applications call it: a function, a class, or a method. */
  isCalled: boolean
  examples: string[]
}

/** The compiler options for the sources, with the entries under their published names. */
export function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const paths = {
    '@stet/sdk': ['./src/index.ts'],
    '@stet/sdk/*': ['./src/*/index.ts'],
    // Resolve the package as an application would.
    zod: ['../contract/node_modules/zod'],
  }
  return { ...options, noEmit: true, pathsBasePath: root, paths }
}

function entries(): [entry: string, file: string][] {
  const folders = readdirSync(`${root}src`).filter((name) => ts.sys.fileExists(`${root}src/${name}/index.ts`))
  const further = folders.map((name): [string, string] => [`@stet/sdk/${name}`, `${root}src/${name}/index.ts`])
  return [['@stet/sdk', `${root}src/index.ts`], ...further]
}

/** Lists every public name once, and each of its properties and methods as `Owner.name`. */
export function publicNames(): PublicName[] {
  const program = ts.createProgram(
    entries().map(([, file]) => file),
    compilerOptions(),
  )
  const checker = program.getTypeChecker()
  const found = new Map<ts.Symbol, PublicName[]>()
  for (const [entry, file] of entries()) {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    for (const exported of module ? checker.getExportsOfModule(module) : []) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
      if (!found.has(symbol)) found.set(symbol, namesOf(symbol, exported.name, entry, checker))
    }
  }
  return [...found.values()].flat()
}

function namesOf(symbol: ts.Symbol, name: string, entry: string, checker: ts.TypeChecker): PublicName[] {
  const { flags } = symbol
  const { Class, Function: callable, Interface, Method, Value } = ts.SymbolFlags
  const isCallable = (flags & (Class | Interface)) !== 0 && !IMPLEMENTED_BY_CALLERS.includes(name)
  const owned = [...(symbol.members?.values() ?? []), ...(symbol.exports?.values() ?? [])]
  const members = owned.filter(({ escapedName }) => !/^__/.test(String(escapedName)))
  return [
    {
      entry,
      name,
      isValue: (flags & Value) !== 0,
      isCalled: (flags & (Class | callable)) !== 0,
      examples: examplesOf(symbol, checker),
    },
    ...members.map((member) => ({
      entry,
      name: `${name}.${member.name}`,
      isValue: false,
      isCalled: isCallable && (member.flags & Method) !== 0,
      examples: examplesOf(member, checker),
    })),
  ]
}

function examplesOf(symbol: ts.Symbol, checker: ts.TypeChecker): string[] {
  const tags = symbol.getJsDocTags(checker).filter((tag) => tag.name === 'example')
  return tags.map(({ text }) => ts.displayPartsToString(text))
}
