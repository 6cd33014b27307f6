/** The shards of `pnpm test:long`: parts that end within 80 minutes on two cores, and can run at different times. */

/** A file belongs to the first shard with a pattern for its `<package>/<project>/<path below test>`. */
const patterns: readonly [shard: string, pattern: RegExp][] = [
  ['console-postgresql', /^console\/postgresql\//],
  ['console', /^console\//],
  ['packages', /^(?!server\/)/],
  ['run-lists-postgresql', /\/postgres\/http\/run-lists\./],
  ['run-lists', /\/http\/run-lists\./],
  ['fuzz', /\/http\/(console-)?fuzz\./],
  ['database-kills', /\/database\/(process|server)-kill\./],
  ['run-kills-postgresql', /\/postgres\/(runs|process)\/(\w+-kill|owners)\./],
  ['run-kills', /\/(runs|process)\/(\w+-kill|owners)\./],
  [
    'properties-postgresql',
    /\/postgres\/(runs\/(attach-property|random-cuts|leaving-clients|stop)|versions\/parallel)\./,
  ],
  ['properties', /\/(runs\/(attach-property|random-cuts|leaving-clients|stop)|versions\/parallel|redis\/)/],
  ['serial', /\/serial\//],
  ['scaled-owners', /\/scaled\/scaled\/owner-failures\./],
  ['scaled-outages', /\/scaled\/scaled\/(database-away|redis-failures)\./],
  ['scaled', /\/scaled\/scaled\//],
  ['clients', /^server\/(scaled-)?clients\//],
  ['server-postgresql', /^server\/postgres\//],
  ['server', /^server\//],
]

/** The shard of the steps that `pnpm check` skips while their inputs have passed before. */
export const stepsShard = 'steps'

export const shardNames: readonly string[] = [stepsShard, ...patterns.map(([shard]) => shard)]

export const shardMinutes = 80

export interface ListedFile {
  package: string
  project: string
  /** Below the folder of the package. */
  file: string
}

/** Every file has a shard, because the patterns of each package end with one for all its files. */
export function shardOf(listed: ListedFile): string {
  const path = `${listed.package}/${listed.project}/${listed.file.replace(/^test\//, '')}`
  const [shard] = patterns.find(([, pattern]) => pattern.test(path)) ?? []
  if (shard === undefined) throw new Error(`scripts/long/shards.ts has no shard for ${path}`)
  return shard
}
