const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A uuid in canonical lower case; undefined for anything that is not a uuid. */
export function readUuid(text: string): string | undefined {
  return uuidForm.test(text) ? text.toLowerCase() : undefined
}
