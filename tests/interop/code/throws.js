module.exports = () => {
  throw new Error('no');
};
