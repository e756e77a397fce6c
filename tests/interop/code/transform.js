module.exports = (output) => output;
module.exports.upper = (output) => output.toUpperCase();
module.exports.fails = () => {
  throw new Error('no');
};
