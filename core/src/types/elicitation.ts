/** What a person may answer to one field of a form. */
export type ElicitationValue = string | number | boolean | readonly string[]

/** One of the values that a field may have. */
export interface ElicitationOption {
  /** As the server is sent it. */
  readonly value: string
  /** Clean text of the server. */
  readonly label: string
}

interface AnyField {
  /** Its key in the answer, as the server wrote it: never shown. */
  readonly name: string
  /** Clean text of the server, at most 100 characters. */
  readonly title: string
  /** Clean text of the server, at most 500 characters. */
  readonly description?: string
  readonly required: boolean
}

/** A line of text. */
export interface TextField extends AnyField {
  readonly type: 'text'
  readonly format?: 'email' | 'uri' | 'date' | 'date-time'
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression of the server. */
  readonly pattern?: string
  readonly default?: string
}

/** A number, whole for `integer`. */
export interface NumberField extends AnyField {
  readonly type: 'number' | 'integer'
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
}

/** Yes or no. */
export interface BooleanField extends AnyField {
  readonly type: 'boolean'
  readonly default?: boolean
}

/** One of some values. */
export interface ChoiceField extends AnyField {
  readonly type: 'choice'
  readonly options: readonly ElicitationOption[]
  readonly default?: string
}

/** Some of some values. */
export interface ChoicesField extends AnyField {
  readonly type: 'choices'
  readonly options: readonly ElicitationOption[]
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: readonly string[]
}

/** One thing that a form asks for (specification 2025-11-25, client/elicitation, "Requested Schema"). Defaults fit, but for a pattern. */
export type ElicitationField = TextField | NumberField | BooleanField | ChoiceField | ChoicesField

/** A form to be filled in. */
export interface FormQuestion {
  readonly mode: 'form'
  /** Clean text of the server, in lines; at most 2,000 characters. */
  readonly message: string
  /** At most 32; none asks for a yes alone. */
  readonly fields: readonly ElicitationField[]
  /** What is wrong with a value for this field, as a person is told it; undefined when it fits. */
  problem(field: ElicitationField, value: ElicitationValue): string | undefined
}

/** An address to be opened in a browser: what the person enters there does not come by here. */
export interface UrlQuestion {
  readonly mode: 'url'
  /** Clean text of the server, in lines; at most 2,000 characters. */
  readonly message: string
  /** Printable ASCII, http or https, with no user name; at most 2,048 characters. Nobody has fetched it. */
  readonly url: string
  /** Its host, and its port where it has one of its own; letters beyond ASCII are in Punycode. */
  readonly host: string
  /** The server goes on when the answer is there, so it is given when the person has done there what there is to do. */
  readonly waits: boolean
  /** Aborts when the server says that this is done; also after the answer. */
  readonly done: AbortSignal
}

/** What a server asks of the person (elicitation). Its words are data, and never the user's or the system's. */
export type ElicitationQuestion = FormQuestion | UrlQuestion

/**
 * What a person answered: `decline` is an explicit no, `cancel` everything that is no answer. The content of a form has
 * the fields that were filled in, by name.
 */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, ElicitationValue>> }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' }

/** Asks a person. `signal` aborts when the answer is no longer wanted; what is answered then is not heard. */
export type Elicit = (question: ElicitationQuestion, signal: AbortSignal) => Promise<ElicitationAnswer>
