/** Looks at the nesting of JSON without making anything of it: four megabytes of brackets would become 400 MB of arrays. */

const quote = 0x22
const backslash = 0x5c
const arrayStart = 0x5b
const arrayEnd = 0x5d
const objectStart = 0x7b
const objectEnd = 0x7d

/** Whether arrays and objects stand in one another more than `most` deep; of text that is no JSON, anything may be said. */
export function isNestedDeeper(json: Uint8Array, most: number): boolean {
  let depth = 0
  for (let place = 0; place < json.length; place += 1) {
    switch (json[place]) {
      case arrayStart:
      case objectStart:
        depth += 1
        if (depth > most) return true
        break
      case arrayEnd:
      case objectEnd:
        depth -= 1
        break
      case quote:
        place = endOfString(json, place + 1)
        break
    }
  }
  return false
}

/** The place of the closing quote; the end of the text where there is none. */
function endOfString(json: Uint8Array, start: number): number {
  for (let end = json.indexOf(quote, start); end !== -1; end = json.indexOf(quote, end + 1)) {
    let escapes = 0
    while (end - escapes > start && json[end - escapes - 1] === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return json.length
}
