const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A uuid in its one form, lower case; undefined for what cannot name anything. */
export function readUuid(text: string): string | undefined {
  return uuidForm.test(text) ? text.toLowerCase() : undefined
}
