import { z } from 'zod'
import { documentedSchema } from '../src/documented.ts'
import { documentation } from './documentation.ts'

/** Writes zod schemas as TypeScript declarations without zod. A schema is its input: what a client sends or reads. */
export class WireTypes {
  readonly #names = new Map<object, string>()

  /** @param exported the schemas by name. Objects, unions and enums get a declaration; others are written in place. */
  constructor(exported: Readonly<Record<string, unknown>>) {
    for (const [name, value] of Object.entries(exported)) {
      if (value instanceof z.ZodType && /^(object|union|enum)$/.test(kindOf(shown(value)))) this.#names.set(value, name)
    }
  }

  /** All declarations, sorted by name. */
  declarations(): string {
    const sorted = [...this.#names].sort(([, one], [, other]) => (one < other ? -1 : 1))
    return sorted.map(([schema, name]) => this.#declaration(name, schema as z.ZodType)).join('\n\n')
  }

  /** The type of a schema: its name if it has one. */
  typeOf(schema: z.core.$ZodType): string {
    return this.#nameOf(schema) ?? this.#written(shown(schema))
  }

  #declaration(name: string, schema: z.ZodType): string {
    const written = shown(schema)
    const comment = documentation({ ...z.globalRegistry.get(written), ...z.globalRegistry.get(schema) })
    if (written instanceof z.ZodEnum) {
      const values = `export const ${tupleName(name)} = [${written.options.map(quoted).join(', ')}] as const`
      return `${comment}${values}\nexport type ${name} = (typeof ${tupleName(name)})[number]`
    }
    if (written instanceof z.ZodObject) return `${comment}export interface ${name} ${this.#extended(written)}`
    return `${comment}export type ${name} = ${this.#written(written)}`
  }

  /** Adding metadata to a schema clones it. The clone has the name of its parent. */
  #nameOf(schema: z.core.$ZodType): string | undefined {
    const { parent } = schema._zod
    return this.#names.get(schema) ?? (parent && this.#nameOf(parent))
  }

  #written(schema: z.core.$ZodType): string {
    if (schema instanceof z.ZodObject) return this.#object(schema)
    if (schema instanceof z.ZodUnion) return schema.options.map((option) => this.typeOf(option)).join(' | ')
    if (schema instanceof z.ZodArray) return listOf(this.typeOf(schema.element))
    if (schema instanceof z.ZodRecord) return `Record<string, ${this.typeOf(schema.valueType)}>`
    if (schema instanceof z.ZodNullable) return `${this.typeOf(schema.unwrap())} | null`
    if (isOptional(schema)) return this.typeOf(schema.unwrap())
    if (schema instanceof z.ZodEnum) return schema.options.map(quoted).join(' | ')
    if (schema instanceof z.ZodLiteral) return [...schema.values].map(quoted).join(' | ')
    const kind = kindOf(schema)
    if (/^(string|number|boolean|null|unknown)$/.test(kind)) return kind
    throw new Error(`The declarations have no form for the schema "${kind}"`)
  }

  /** Without the fields of the largest named object that the schema extends, so that the declarations stay small. */
  #extended(schema: z.ZodObject): string {
    const own = Object.entries<z.core.$ZodType>(schema.shape)
    let base: { name: string; shape: Readonly<Record<string, z.core.$ZodType>> } | undefined
    for (const [named, name] of this.#names) {
      if (!(named instanceof z.ZodObject)) continue
      const { shape } = named
      const size = Object.keys(shape).length
      const isPart =
        size > 9 && size < own.length && Object.entries(shape).every(([key, field]) => schema.shape[key] === field)
      if (isPart && size > Object.keys(base?.shape ?? {}).length) base = { name, shape }
    }
    if (!base) return this.#written(schema)
    const { name, shape } = base
    return `extends ${name} ${this.#object(schema, (key) => !(key in shape))}`
  }

  #object(schema: z.ZodObject, isShown: (key: string) => boolean = () => true): string {
    const shownFields = Object.entries<z.core.$ZodType>(schema.shape).filter(([key]) => isShown(key))
    const fields = shownFields.map(([key, field]) => {
      const mark = isOptional(field) ? '?' : ''
      return `${documentation(this.#fieldDocs(field))}${key}${mark}: ${this.typeOf(field)}`
    })
    const isLoose = schema.def.catchall instanceof z.ZodUnknown
    return `{\n${[...fields, ...(isLoose ? ['[key: string]: unknown'] : [])].join('\n')}\n}`
  }

  /** The documentation closest to the field. That of a named type is not repeated at each field. */
  #fieldDocs(field: z.core.$ZodType): { description?: string; deprecated?: boolean; fallback?: unknown } {
    const { description, deprecated = false } = z.globalRegistry.get(field) ?? {}
    const fallback = field instanceof z.ZodDefault ? { fallback: field.def.defaultValue } : {}
    if (description !== undefined && description !== this.#namedDescription(field)) {
      return { description, deprecated, ...fallback }
    }
    const inner = isOptional(field) || field instanceof z.ZodNullable ? this.#fieldDocs(field.unwrap()) : {}
    return { ...inner, ...fallback }
  }

  #namedDescription(schema: z.core.$ZodType): string | undefined {
    if (this.#names.has(schema)) return z.globalRegistry.get(schema)?.description
    return schema._zod.parent && this.#namedDescription(schema._zod.parent)
  }
}

/** The schema that types and the OpenAPI document show: without conversions before it. */
function shown(schema: z.core.$ZodType): z.core.$ZodType {
  const documented = documentedSchema(schema)
  if (documented) return documented
  return schema instanceof z.ZodPipe && schema.in instanceof z.ZodTransform ? schema.out : schema
}

function isOptional(schema: z.core.$ZodType): schema is z.ZodOptional | z.ZodExactOptional | z.ZodDefault {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault
}

const listOf = (item: string): string => (item.includes(' ') ? `(${item})[]` : `${item}[]`)

const kindOf = (schema: z.core.$ZodType): string => schema._zod.def.type

const quoted = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value))

/** @example tupleName('VersionStatus') // 'VERSION_STATUSES' */
function tupleName(name: string): string {
  const words = name.replace(/\B[A-Z]/g, '_$&').toUpperCase()
  return words.endsWith('S') ? `${words}ES` : `${words}S`
}
