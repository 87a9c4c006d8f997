// Stands in for libimf.so, which the TBB build of libdnnl names as needed. All that libdnnl takes
// from it are functions of libm, which this library is linked to; so it only has to exist.
int gw_imf_standin = 1;
