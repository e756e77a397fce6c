module.exports = {
  upper: (output, { vars }) => vars.word.toUpperCase(),
  colours: () => ["red", "green"],
  schema: () => ({ type: "object", properties: { id: { type: "integer" } } }),
};
