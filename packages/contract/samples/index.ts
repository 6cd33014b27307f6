import { readdirSync, readFileSync } from 'node:fs'
import { z } from 'zod'

const Sample = z.strictObject({
  valid: z.unknown(),
  invalid: z.unknown().optional(),
  /** The path at which the schema must refuse `invalid`. */
  fault: z.array(z.union([z.string(), z.number()])).optional(),
})
export type Sample = z.infer<typeof Sample>

const folder = new URL('./', import.meta.url)
const samples = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) =>
      Object.entries(z.record(z.string(), Sample).parse(JSON.parse(readFileSync(new URL(file, folder), 'utf8')))),
    ),
)

/** The sample bodies of a schema, by the name of the schema. */
export function sampleOf(name: string): Sample | undefined {
  return samples.get(name)
}

/** The names of all schemas that have samples. */
export function sampleNames(): string[] {
  return [...samples.keys()]
}
