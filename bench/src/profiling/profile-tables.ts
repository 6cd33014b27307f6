import type { Frame, TimedStack } from './cpu-profile.ts'
import { type Place, SourcePlaces } from './source-places.ts'

interface Tally {
  own: Map<string, number>
  /** Own time plus the time of the packages and Node functions that our code calls. */
  charged: Map<string, number>
}

const shownRows = 22
const native: Place = { package: 'native code without a JavaScript frame' }
const outside = '(no stet code on the stack)'

export function printProfileTables(thread: string, stacks: readonly TimedStack[]): void {
  const places = new SourcePlaces()
  const packages = new Map<string, number>()
  const folders: Tally = { own: new Map(), charged: new Map() }
  const files: Tally = { own: new Map(), charged: new Map() }
  const functions = new Map<string, number>()
  let busyMicros = 0
  let idleMicros = 0
  for (const { frames, micros } of stacks) {
    const [leaf] = frames
    if (!leaf || leaf.functionName === '(idle)') {
      idleMicros += micros
      continue
    }
    busyMicros += micros
    const placed = frames.map((frame) => places.of(frame)).filter((place) => place !== undefined)
    const place = placed[0] ?? native
    const owner = placed.find(({ folder }) => folder !== undefined)
    add(packages, place.package, micros)
    charge(folders, place.folder, owner?.folder ?? outside, micros)
    charge(files, place.file, owner?.file ?? outside, micros)
    add(functions, `${nameOf(leaf)}  ${place.file ?? place.package}`, micros)
  }
  const share = (micros = 0): string => `${((micros / busyMicros) * 100).toFixed(1).padStart(6)} %`
  const printTally = (title: string, { own, charged }: Tally): void => {
    console.log(`\n  by ${title} of stet: own code, then with the packages and functions of Node that it calls`)
    for (const [name, micros] of top(charged)) console.log(`  ${share(own.get(name))} ${share(micros)}  ${name}`)
  }
  const seconds = (micros: number): string => (micros / 1e6).toFixed(2)
  console.log(
    `\nprofile of ${thread}: busy ${seconds(busyMicros)} s, idle ${seconds(idleMicros)} s; shares of the busy time`,
  )
  console.log('\n  by package; native functions and WebAssembly count for the package that calls them')
  for (const [name, micros] of top(packages)) console.log(`  ${share(micros)}  ${name}`)
  printTally('folder', folders)
  printTally('file', files)
  console.log('\n  by function, own time')
  for (const [name, micros] of top(functions)) console.log(`  ${share(micros)}  ${name}`)
}

function charge({ own, charged }: Tally, self: string | undefined, owner: string, micros: number): void {
  add(charged, owner, micros)
  if (self === owner) add(own, owner, micros)
}

function add(sums: Map<string, number>, name: string, micros: number): void {
  sums.set(name, (sums.get(name) ?? 0) + micros)
}

function top(sums: Map<string, number>): [string, number][] {
  return [...sums].sort(([, a], [, b]) => b - a).slice(0, shownRows)
}

function nameOf({ functionName, lineNumber }: Frame): string {
  return functionName === '' ? `(anonymous:${lineNumber + 1})` : functionName
}
