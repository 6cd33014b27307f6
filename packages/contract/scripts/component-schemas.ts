import { z } from 'zod'
import { documentedSchema } from '../src/documented.ts'

export type JsonSchema = { [key: string]: unknown }

const DEFS = '#/$defs/'
const COMPONENTS = '#/components/schemas/'

/** Converts zod schemas to OpenAPI. Schemas with an id become components. */
export class ComponentSchemas {
  readonly #found = new Map<string, JsonSchema>()

  /** Returns a reference if the schema has an id. */
  describe(schema: z.ZodType): JsonSchema {
    const documented = documentedSchema(schema)
    if (documented) return this.describe(documented)
    // zod emits a reference only inside an object, not at the root.
    const generated: JsonSchema = z.toJSONSchema(z.object({ here: schema }), {
      // Responses use `input` too: as `output`, their objects would forbid fields that are added later.
      io: 'input',
      unrepresentable: 'throw',
      override: ({ zodSchema, jsonSchema }) => {
        // Keys of JSON objects are always strings.
        delete jsonSchema.propertyNames
        // TypeScript, for the generated declarations.
        delete jsonSchema.example
        this.#replaceDocumented(zodSchema, jsonSchema)
      },
    })
    for (const [id, definition] of Object.entries(asObject(generated['$defs']))) this.#collect(id, definition)
    return asObject(withComponentRefs(asObject(generated['properties'])['here']))
  }

  /** Sorted by name in code point order. */
  components(): JsonSchema {
    return Object.fromEntries([...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #replaceDocumented(zodSchema: object, jsonSchema: JsonSchema): void {
    const documented = documentedSchema(zodSchema)
    if (!documented) return
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
    Object.assign(jsonSchema, this.describe(documented))
  }

  #collect(id: string, definition: unknown): void {
    const { id: _id, ...schema } = asObject(withComponentRefs(definition))
    const known = this.#found.get(id)
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`Two schemas are called ${id}`)
    this.#found.set(id, schema)
  }
}

function asObject(value: unknown): JsonSchema {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('Not a JSON object')
  return { ...value }
}

function withComponentRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withComponentRefs)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, entry]) => entry !== undefined)
      .map(([key, entry]) => [
        key,
        key === '$ref' ? String(entry).replace(DEFS, COMPONENTS) : withComponentRefs(entry),
      ]),
  )
}
