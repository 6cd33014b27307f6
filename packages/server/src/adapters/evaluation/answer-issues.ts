import { type OutputUnit, type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema'

/** Keywords whose errors only say that a deeper part has an error. */
const containers = new Set(
  (
    '$ref allOf if properties patternProperties additionalProperties dependentSchemas items prefixItems ' +
    'additionalItems unevaluatedItems unevaluatedProperties'
  ).split(' '),
)

const mostIssues = 5
const mostCharacters = 500

/** Lists the first issues of a value. @throws Error for a schema that cannot be applied. */
export function answerIssues(schema: Schema, value: unknown): { path: string; message: string }[] {
  const { valid, errors } = validated(schema, value)
  if (valid) return []
  const deepest = errors.filter(({ keyword }) => !containers.has(keyword))
  return (deepest.length > 0 ? deepest : errors).slice(0, mostIssues).map(issueOf)
}

function validated(schema: Schema, value: unknown) {
  try {
    return new Validator(schema, draftOf(schema), false).validate(value)
  } catch (error) {
    // The validator's message lists addresses of its own.
    const [, reference] = /^Unresolved \$ref ("[^"]*")/.exec(error instanceof Error ? error.message : '') ?? []
    throw reference === undefined ? error : new Error(`It refers to ${reference}, which it does not contain`)
  }
}

function issueOf({ instanceLocation, error }: OutputUnit): { path: string; message: string } {
  // The validator calls the value "instance", and writes its path as a URI fragment.
  const message = error.replace(/^Instance\b/, 'The value').slice(0, mostCharacters)
  return { path: instanceLocation.replace(/^#/, '').slice(0, mostCharacters), message }
}

function draftOf({ $schema = '' }: Schema): SchemaDraft {
  if (/draft-0?4/.test($schema)) return '4'
  if (/draft-0?[67]/.test($schema)) return '7'
  return $schema.includes('2019-09') ? '2019-09' : '2020-12'
}
